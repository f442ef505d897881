import type { Finding } from './finding.ts';

/** A lesson is prose: a sentence or a few. Nothing of it may change the document around it or hide from a reader. */
const MARKUP: readonly (readonly [RegExp, string])[] = [
  [/```|~~~/, 'a fenced code block'],
  [/<!--|-->/, 'an HTML comment'],
  [/<\s*[a-z/!?]/i, 'an HTML tag'],
  [/&(?:#\w+|[a-z]\w*);?(?=\W|\w*;)/i, 'an HTML entity'],
  [/\]\s*[([:]|!\[|\[\^/, 'a link, an image or a footnote'],
  [/^\s*(?:#|=+\s*$|-+\s*$|_{3,}|\*{3,})/m, 'a heading or a rule'],
  [/\n\s*(?:[-*+>|]|\d+[.)])\s/, 'a list, a quotation or another step'],
  [/^\s*[-*+>|]\s/, 'a list or a quotation'],
  [/\n\s*\n/, 'more than one paragraph'],
  [/\p{L}(?:\*+|`+|~+|__+)\p{L}/u, 'formatting inside of a word'],
  [/\p{L}(?:''+|"+)\p{L}/u, 'quotes inside of a word'],
  [/[({[]\s*(?:dot|at|punkt)\s*[)}\]]/i, 'a disguised address'],
];

export function findMarkup(text: string, columns: ReadonlySet<string>): Finding[] {
  const findings = MARKUP.filter(([pattern]) => pattern.test(text)).map(([, what]) => `holds ${what}`);
  if (text.trim() === '') findings.push('has no words');
  // `{ENV:...}` would put a secret into prompts; with an unknown name every later item would fail.
  const stray = [...text.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!).find((name) => !columns.has(name));
  if (stray !== undefined) findings.push(`holds a placeholder that no column fills: {${stray}}`);
  return findings.map((reason) => ({ kind: 'markup', reason }));
}
