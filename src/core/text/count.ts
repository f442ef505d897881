export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** `row 1`, `rows 1, 2`. */
export function listed(noun: string, numbers: readonly unknown[]): string {
  return `${noun}${numbers.length === 1 ? '' : 's'} ${numbers.join(', ')}`;
}
