/** { cents: 1234, currency: 'EUR' } becomes "12.34 EUR". */
export function format({ cents, currency }) {
  if (!Number.isInteger(cents) || !currency) throw new TypeError('format takes { cents, currency }');
  return `${(cents / 100).toFixed(2)} ${currency}`;
}

/** "12.34 EUR" becomes { cents: 1234, currency: 'EUR' }. */
export function parseMoney(text) {
  const [, amount, currency] = /^(-?\d+(?:\.\d+)?) ([A-Z]{3})$/.exec(text) ?? [];
  if (currency === undefined) throw new TypeError(`not an amount with a currency: ${text}`);
  return { cents: Math.round(Number(amount) * 100), currency };
}
