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
}

export const atMost = (ratio: number): Target => ({ is: 'at most', ratio });
export const atLeast = (ratio: number): Target => ({ is: 'at least', ratio });

export function isMissed({ ratio, target }: Figure): boolean {
  if (!target || ratio === undefined) return false;
  return target.is === 'at most' ? ratio > target.ratio : ratio < target.ratio;
}

const COLUMNS = ['figure', 'Nightshift', 'next to', 'ratio', 'target', ''];

export function renderPlain({ title, figures }: Section): string {
  const rows = [COLUMNS, ...figures.map(cellsOf)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return [title, '', ...lines.map((line) => `  ${line}`), ''].join('\n');
}

export function renderMarkdown({ title, figures }: Section): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    `### ${title}`,
    '',
    line(COLUMNS),
    line(COLUMNS.map(() => '---')),
    ...figures.map(cellsOf).map(line),
    '',
  ].join('\n');
}

function cellsOf(figure: Figure): string[] {
  const { what, ours, other, ratio, target } = figure;
  return [
    what,
    ours,
    other,
    ratio === undefined ? '-' : ratio.toFixed(2),
    target ? `${target.is} ${target.ratio}` : '',
    isMissed(figure) ? 'missed' : '',
  ];
}
