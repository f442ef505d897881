/** A word of a text that names a file by `{path}`: no space, quote or shell character. */
const NAMES = /[^\s"'`<>|;&()=,]*\{path\}[^\s"'`<>|;&()=,]*/g;

/**
 * The paths that are items. A path that the texts name as a file of another one, such as `{path}.de.md`, is a result: a
 * second call with the same pattern would find it.
 */
export function withoutResults(paths: readonly string[], texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => text.match(NAMES) ?? []);
  // At the end of a sentence, a full stop is not part of the name.
  const names = new Set(words.flatMap((word) => [word, word.replace(/[.:!?]+$/, '')]));
  names.delete('{path}');
  const results = new Set(paths.flatMap((path) => [...names].map((name) => name.replaceAll('{path}', () => path))));
  return paths.filter((path) => !results.has(path));
}
