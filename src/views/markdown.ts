import { printable } from '../core/text/printable.ts';

export function markdownHeader(names: readonly string[]): string[] {
  return [markdownRow(names), `|${names.map(() => '---').join('|')}|`];
}

export function markdownRow(values: readonly string[]): string {
  return `| ${values.map(markdownText).join(' | ')} |`;
}

/** Keeps a value from becoming a new cell, markup or HTML (rule S10). */
export function markdownText(value: string): string {
  return (
    printable(value)
      .trim()
      .replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]!)
      .replace(/[\\`*_[\]|~$@]/g, '\\$&')
      // Addresses become links, and names between colons emoji; times of day are neither.
      .replace(/:(?=\/\/|(?!\d\d:)[\w+-]+:)|(?<=\bwww)\./gi, '\\$&')
      .replace(/\s*\n\s*/g, '<br>')
  );
}
