import { STATUSES } from '../model/status.ts';

/** Which rows of a shift a grid shows, and in which order. It is part of the page's address. */
export interface RowQuery {
  /** Rows with a task in one of these states. */
  readonly status: readonly RowFilter[];
  /** Only statuses of this task count. */
  readonly task?: string;
  /** The id of a failure group. */
  readonly group?: string;
  /** Text in a cell or in the reason of a failure, in capitals or not. */
  readonly search?: string;
  readonly sort?: SortKey;
  readonly isDescending: boolean;
  /** Columns to show besides the label and the tasks. */
  readonly columns: readonly string[];
}

/** `blocked`: at `todo` behind a task that failed. `held`: the result of the row waits for `nightshift deliver`. */
export const ROW_FILTERS = [...STATUSES, 'blocked', 'held'] as const;
export type RowFilter = (typeof ROW_FILTERS)[number];

export const PLAIN_SORTS = ['row', 'ms', 'cost', 'attempts'] as const;
/** One of these, or a column of the table. */
export type SortKey =
  | { readonly by: (typeof PLAIN_SORTS)[number] }
  | { readonly by: 'column'; readonly column: string };

/** A part of the rows that match, from 0. */
export interface RowSpan {
  readonly from: number;
  readonly count: number;
}

const COLUMN = 'column:';

/** What it does not know it leaves out: addresses are typed, mailed and older than the page. */
export function readRowQuery(params: URLSearchParams): RowQuery {
  const text = (name: string) => params.get(name) || undefined;
  const sort = readSort(text('sort'));
  return {
    status: params.getAll('status').flatMap((value) => ROW_FILTERS.find((filter) => filter === value) ?? []),
    ...withText('task', text('task')),
    ...withText('group', text('group')),
    ...withText('search', text('search')),
    ...(sort === undefined ? {} : { sort }),
    isDescending: params.get('order') === 'descending',
    columns: params.getAll('show'),
  };
}

export function writeRowQuery(query: RowQuery): URLSearchParams {
  const { status, task, group, search, sort, isDescending, columns } = query;
  const params = new URLSearchParams();
  for (const value of status) params.append('status', value);
  for (const [name, value] of Object.entries({ task, group, search })) if (value) params.set(name, value);
  if (sort) params.set('sort', sort.by === 'column' ? `${COLUMN}${sort.column}` : sort.by);
  if (isDescending) params.set('order', 'descending');
  for (const column of columns) params.append('show', column);
  return params;
}

function readSort(text: string | undefined): SortKey | undefined {
  if (text?.startsWith(COLUMN)) return { by: 'column', column: text.slice(COLUMN.length) };
  const by = PLAIN_SORTS.find((name) => name === text);
  return by === undefined ? undefined : { by };
}

function withText<K extends string>(name: K, value: string | undefined): { [N in K]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [N in K]?: string };
}
