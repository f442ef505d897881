/** One figure: what Nightshift takes, next to what a user would use instead. */
export interface Figure {
  readonly what: string;
  readonly ours: string;
  readonly other: string;
  /** Undefined: the other one is not installed here. */
  readonly ratio: number | undefined;
  readonly target?: Target;
}

export interface Target {
  readonly is: 'at most' | 'at least';
  readonly ratio: number;
}

export interface Section {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Printed after the figures. */
  readonly tables?: readonly Table[];
}

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many targets in it are missed. */
  readonly missed?: number;
}

export const atMost = (ratio: number): Target => ({ is: 'at most', ratio });
export const atLeast = (ratio: number): Target => ({ is: 'at least', ratio });

export function missedIn({ figures, tables = [] }: Section): number {
  return figures.filter(isMissed).length + tables.reduce((sum, { missed = 0 }) => sum + missed, 0);
}

function isMissed({ ratio, target }: Figure): boolean {
  return target !== undefined && ratio !== undefined && misses(ratio, target);
}

export function misses(value: number, { is, ratio }: Target): boolean {
  return is === 'at most' ? value > ratio : value < ratio;
}

const COLUMNS = ['figure', 'Nightshift', 'next to', 'ratio', 'target', ''];

export function renderPlain(section: Section): string {
  return [section.title, '', ...tablesOf(section).flatMap((each) => [...plainLines(each), ''])].join('\n');
}

function plainLines({ header, rows }: Table): string[] {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]!.length)));
  return [header, ...rows].map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]!));
    return `  ${cells.join('  ').trimEnd()}`;
  });
}

export function renderMarkdown(section: Section): string {
  return [`### ${section.title}`, '', ...tablesOf(section).flatMap((each) => [...markdownLines(each), ''])].join('\n');
}

function markdownLines({ header, rows }: Table): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}

function tablesOf({ figures, tables = [] }: Section): Table[] {
  return [...(figures.length > 0 ? [tableOf(figures)] : []), ...tables];
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
