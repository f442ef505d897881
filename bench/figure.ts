/** One figure: what Nightshift takes, next to what a user would use instead. */
export interface Figure {
  readonly what: string;
  readonly ours: string;
  readonly other: string;
  /** Undefined: the other one is not installed here. */
  readonly ratio: number | undefined;
  readonly target?: Target;
}

interface Target {
  readonly is: 'at most' | 'at least';
  readonly ratio: number;
}

export interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** What the figures are taken from. */
  readonly table?: Table;
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const atMost = (ratio: number): Target => ({ is: 'at most', ratio });
export const atLeast = (ratio: number): Target => ({ is: 'at least', ratio });

export function isMissed({ ratio, target }: Figure): boolean {
  if (!target || ratio === undefined) return false;
  return target.is === 'at most' ? ratio > target.ratio : ratio < target.ratio;
}

const COLUMNS = ['figure', 'Nightshift', 'next to', 'ratio', 'target', ''];

export function renderPlain({ title, figures, table }: Section): string {
  const tables = [tableOf(figures), ...(table ? [table] : [])];
  return [title, '', ...tables.flatMap((each) => [...plainLines(each), ''])].join('\n');
}

function plainLines({ header, rows }: Table): string[] {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]!.length)));
  return [header, ...rows].map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]!));
    return `  ${cells.join('  ').trimEnd()}`;
  });
}

export function renderMarkdown({ title, figures, table }: Section): string {
  const tables = [tableOf(figures), ...(table ? [table] : [])];
  return [`### ${title}`, '', ...tables.flatMap((each) => [...markdownLines(each), ''])].join('\n');
}

function markdownLines({ header, rows }: Table): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}

/** Without columns that are empty: some figures are next to nothing. */
function tableOf(figures: readonly Figure[]): Table {
  const rows = figures.map(cellsOf);
  const used = COLUMNS.map((_, column) => rows.some((row) => row[column] !== ''));
  const keep = (row: readonly string[]) => row.filter((_, column) => used[column]);
  return { header: keep(COLUMNS), rows: rows.map(keep) };
}

function cellsOf(figure: Figure): string[] {
  const { what, ours, other, ratio, target } = figure;
  return [
    ...[what, ours, other],
    other === '' ? '' : (ratio?.toFixed(2) ?? '-'),
    target ? `${target.is} ${target.ratio}` : '',
    verdictOf(figure),
  ];
}

function verdictOf(figure: Figure): string {
  if (!figure.target || figure.ratio === undefined) return '';
  return isMissed(figure) ? 'missed' : 'met';
}
