import type { GridColumns, GridRow } from '../../../src/core/page/answers.ts';
import type { RowQuery, SortKey } from '../../../src/core/page/row-query.ts';

/** A column of the grid, besides the box that selects a row. */
export interface GridColumn {
  readonly title: string;
  readonly sort: SortKey;
  readonly isNumber: boolean;
  /** In rem. The width depends on no content, so that all rows are alike. */
  readonly least: number;
  /** Its share of the room that is left. */
  readonly share: number;
  readonly kind: 'row' | 'label' | 'task' | 'cell' | 'attempts' | 'ms' | 'cost';
  /** Its place among the tasks, or among the cells. */
  readonly at: number;
}

/** Tasks show what they do and why they failed, as long as there is room. */
const FEW_TASKS = 3;

/** Columns that are asked for. A table without a column that names rows shows its first one. */
export function shownColumns({ label, metadata }: GridColumns, query: RowQuery): readonly string[] {
  return query.columns.length > 0 || label !== undefined ? query.columns : metadata.slice(0, 1);
}

export function gridColumns(columns: GridColumns, shown: readonly string[]): readonly GridColumn[] {
  const { label, tasks } = columns;
  const taskWidth = tasks.length <= FEW_TASKS ? { least: 9, share: 2 } : { least: 4.5, share: 1 };
  const widths = { label: { least: 8, share: 1.5 }, task: taskWidth, cell: { least: 7, share: 1 } };
  const number = (kind: 'attempts' | 'ms' | 'cost', title: string): GridColumn => ({
    kind,
    title,
    sort: { by: kind },
    isNumber: true,
    least: kind === 'attempts' ? 6.5 : 5,
    share: 0,
    at: 0,
  });
  const named = (kind: 'label' | 'task' | 'cell', title: string, at: number): GridColumn => {
    return { kind, title, sort: { by: 'column', column: title }, isNumber: false, ...widths[kind], at };
  };
  return [
    { kind: 'row', title: 'Row', sort: { by: 'row' }, isNumber: true, least: 4.75, share: 0, at: 0 },
    ...(label === undefined ? [] : [named('label', label, 0)]),
    ...tasks.map((task, at) => named('task', task, at)),
    ...shown.map((column, at) => named('cell', column, at)),
    number('attempts', 'Attempts'),
    number('ms', 'Time'),
    number('cost', 'Cost'),
  ];
}

const BOX = 2.25;

/** As properties of CSS, for the table. */
export function gridStyle(columns: readonly GridColumn[]) {
  const tracks = columns.map(({ least, share }) => (share === 0 ? `${least}rem` : `minmax(${least}rem, ${share}fr)`));
  return {
    '--columns': [`${BOX}rem`, ...tracks].join(' '),
    '--least': `${columns.reduce((sum, { least }) => sum + least, BOX)}rem`,
  };
}

export function isSame(a: SortKey | undefined, b: SortKey): boolean {
  return a?.by === 'column' && b.by === 'column' ? a.column === b.column : (a?.by ?? 'row') === b.by;
}

/** Up first, then down; numbers other than the row down first, since the largest matter. */
export function nextSort(query: RowQuery, { sort, isNumber, kind }: GridColumn): RowQuery {
  const isLargestFirst = isNumber && kind !== 'row';
  const isDescending = isSame(query.sort, sort) ? !query.isDescending : isLargestFirst;
  return { ...query, sort, isDescending };
}

export function attemptsOf({ tasks }: GridRow): number {
  return tasks.reduce((sum, { attempts }) => sum + attempts, 0);
}
