const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Rows in the order of a number each; NaN: there is none. Equal rows stay in order, and those without come last. */
export function orderByNumber(numbers: Float64Array, isDescending: boolean): Uint32Array {
  const sign = isDescending ? -1 : 1;
  const keys = numbers.map((number) => (Number.isNaN(number) ? Number.POSITIVE_INFINITY : sign * number));
  // Two that are infinite differ by NaN, which is no difference.
  return rowsIn(keys.length).sort((a, b) => keys[a]! - keys[b]! || a - b);
}

/**
 * Rows in the order of a text each: as numbers if all are, otherwise without regard to capitals. Those without a text
 * come last.
 */
export function orderByText(texts: readonly string[], isDescending: boolean): Uint32Array {
  if (texts.every((text) => text === '' || NUMBER.test(text))) {
    return orderByNumber(
      Float64Array.from(texts, (text) => (text === '' ? Number.NaN : Number(text))),
      isDescending,
    );
  }
  const sign = isDescending ? -1 : 1;
  const keys = texts.map((text) => text.toLowerCase());
  return rowsIn(keys.length).sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    if (x === y) return a - b;
    if (x === '' || y === '') return x === '' ? 1 : -1;
    return x < y ? -sign : sign;
  });
}

/** All rows, from the first to the last. */
export function rowsIn(count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}
