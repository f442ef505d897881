/**
 * Patterns of prose, one on each line: `(a|b)` either, `(a )?` perhaps, `ignor*` a beginning of a word, `...` a few
 * words of the same sentence, `<name>` one of a list. A text may have a phrase anywhere, in any case.
 */
export function phrases(lines: string, lists: Readonly<Record<string, string>> = {}): RegExp[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => new RegExp(`(?<![\\w])(?:${sourceOf(line.trim(), lists)})(?![\\w])`, 'i'));
}

function sourceOf(line: string, lists: Readonly<Record<string, string>>): string {
  return line
    .replace(/<(\w+)>/g, (_, name: string) => `(${lists[name]!.trim().replace(/\s*\n\s*/g, '|')})`)
    .replace(/ \.\.\. /g, '@@')
    .replaceAll('.', '\\.')
    .replaceAll('(', '(?:')
    .replaceAll('*', '\\w*')
    .replaceAll('@@', '\\b[^.;!?]{0,40}?\\b');
}

/** What a text has of the patterns, as it is written there. */
export function findPhrases(text: string, patterns: readonly RegExp[]): string[] {
  return patterns.flatMap((pattern) => pattern.exec(text)?.[0].trim() ?? []);
}
