import type { Result } from '../core/folds/results.ts';
import { markdownHeader, markdownRow, markdownText } from './markdown.ts';

/** The columns of an export besides the metadata. */
const OWN_COLUMNS: Readonly<Record<string, (result: Result) => string>> = {
  row: ({ row }) => String(row),
  task: ({ task }) => task,
  status: ({ status }) => status,
  attempts: ({ attempts }) => String(attempts),
  reason: ({ reason }) => reason ?? '',
  captured: ({ captured }) => (Object.keys(captured).length === 0 ? '' : JSON.stringify(captured)),
  input_tokens: ({ usage }) => text(usage.inputTokens),
  output_tokens: ({ usage }) => text(usage.outputTokens),
  cost_usd: ({ usage }) => text(usage.costUsd),
  ms: ({ ms }) => text(ms),
  at: ({ at }) => at ?? '',
};

/** An unknown number is not 0. */
function text(number: number | undefined): string {
  return number === undefined ? '' : String(number);
}

/** `row`, the metadata, then our other columns; a name that the table already has gets a prefix. */
function header(columns: readonly string[]): string[] {
  const [first = '', ...rest] = Object.keys(OWN_COLUMNS).map((name) => {
    let own = name;
    while (columns.includes(own)) own = `nightshift_${own}`;
    return own;
  });
  return [first, ...columns, ...rest];
}

function cells(result: Result, columns: readonly string[]): string[] {
  const [first = '', ...rest] = Object.values(OWN_COLUMNS).map((read) => read(result));
  return [first, ...columns.map((name) => result.metadata[name] ?? ''), ...rest];
}

/** One line for each item-task. `columns`: the metadata. `raw`: does not escape formulas. */
export function* exportCsv(results: Iterable<Result>, columns: readonly string[], raw: boolean): Generator<string> {
  const line = (values: readonly string[]) => values.map((value) => quote(raw ? value : defuse(value))).join(',');
  yield line(header(columns));
  for (const result of results) yield line(cells(result, columns));
}

/**
 * Rule S11: adds an apostrophe to what a spreadsheet would take for a formula, also in full-width characters or after
 * white space that it drops.
 */
function defuse(value: string): string {
  return /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/.test(value) ? `'${value}` : value;
}

function quote(value: string): string {
  return /[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** One JSON object for each item-task, for programs. */
export function* exportJsonl(results: Iterable<Result>): Generator<string> {
  for (const result of results) yield JSON.stringify(result);
}

/** A table for people. */
export function* exportMarkdown(
  results: Iterable<Result>,
  columns: readonly string[],
  title: string,
): Generator<string> {
  const names = header(columns);
  yield `# ${markdownText(title)}`;
  yield '';
  yield* markdownHeader(names);
  for (const result of results) yield markdownRow(cells(result, columns));
}
