/** 1234 becomes "12.34 EUR". */
export function format(cents) {
  return `${(cents / 100).toFixed(2)} EUR`;
}

/** "12.34" becomes 1234. */
export function parse(text) {
  return Math.round(Number(text) * 100);
}
