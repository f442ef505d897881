import type { Result } from '../core/folds/results.ts';
import { markdownHeader, markdownRow, markdownText } from './markdown.ts';

/** The results as a table: CSV and Markdown write it, each in its own way. */
export interface Sheet {
  readonly header: readonly string[];
  readonly rows: Iterable<readonly string[]>;
}

type Columns = Readonly<Record<string, (result: Result) => string>>;

/** The columns of an export besides the metadata. */
const OWN_COLUMNS: Columns = {
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

/** The columns of one task in a wide export, after the one with its status. */
const TASK_COLUMNS = ['attempts', 'cost_usd', 'reason'] as const;

/** An unknown number is not 0. */
function text(number: number | undefined): string {
  return number === undefined ? '' : String(number);
}

/** A name that the table already has gets a prefix. */
function ownName(name: string, columns: readonly string[]): string {
  let own = name;
  while (columns.includes(own)) own = `nightshift_${own}`;
  return own;
}

/** One line for each item-task: `row`, the metadata, then our other columns. `columns`: the metadata. */
export function sheetOf(results: Iterable<Result>, columns: readonly string[]): Sheet {
  const [first = '', ...rest] = Object.keys(OWN_COLUMNS).map((name) => ownName(name, columns));
  return { header: [first, ...columns, ...rest], rows: rowsOf(results, columns) };
}

function* rowsOf(results: Iterable<Result>, columns: readonly string[]): Generator<string[]> {
  for (const result of results) {
    const [first = '', ...rest] = Object.values(OWN_COLUMNS).map((read) => read(result));
    yield [first, ...metadataOf(result, columns), ...rest];
  }
}

/** One line for each row: `row`, the metadata, then for each task its status, attempts, cost and reason. */
export function wideSheetOf(
  items: Iterable<readonly Result[]>,
  columns: readonly string[],
  tasks: readonly string[],
): Sheet {
  const ofTask = (task: string) => [
    task,
    ...TASK_COLUMNS.map((name) => ownName(`${task}_${name}`, [...columns, ...tasks])),
  ];
  return { header: [ownName('row', columns), ...columns, ...tasks.flatMap(ofTask)], rows: wideRowsOf(items, columns) };
}

function* wideRowsOf(items: Iterable<readonly Result[]>, columns: readonly string[]): Generator<string[]> {
  for (const results of items) {
    const cells = results.flatMap((each) => [each.status, ...TASK_COLUMNS.map((name) => OWN_COLUMNS[name]!(each))]);
    yield [String(results[0]!.row), ...metadataOf(results[0]!, columns), ...cells];
  }
}

function metadataOf({ metadata }: Result, columns: readonly string[]): string[] {
  return columns.map((name) => metadata[name] ?? '');
}

/** `raw`: does not escape formulas. */
export function* exportCsv({ header, rows }: Sheet, raw: boolean): Generator<string> {
  const line = (values: readonly string[]) => values.map((value) => quote(raw ? value : defuse(value))).join(',');
  yield line(header);
  for (const row of rows) yield line(row);
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

/** One JSON object for each row, with its tasks by name. */
export function* exportWideJsonl(items: Iterable<readonly Result[]>): Generator<string> {
  for (const results of items) {
    const { row, item, metadata } = results[0]!;
    const tasks = results.map(({ task, row: _row, item: _item, metadata: _metadata, ...result }) => [task, result]);
    yield JSON.stringify({ row, item, metadata, tasks: Object.fromEntries(tasks) });
  }
}

/** A table for people. */
export function* exportMarkdown({ header, rows }: Sheet, title: string): Generator<string> {
  yield `# ${markdownText(title)}`;
  yield '';
  yield* markdownHeader(header);
  for (const row of rows) yield markdownRow(row);
}
