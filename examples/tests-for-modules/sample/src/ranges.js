/** The numbers of "1,3-5": 1, 3, 4, 5, each once and in order. An empty text has none. */
export function numbersOf(text) {
  if (text.trim() === '') return [];
  const numbers = text.split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  return [...new Set(numbers)].sort((a, b) => a - b);
}

/** The reverse: 1, 3, 4, 5 becomes "1,3-5". */
export function rangesOf(numbers) {
  const runs = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run !== undefined && run.last + 1 === number) run.last = number;
    else runs.push({ first: number, last: number });
  }
  return runs.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
