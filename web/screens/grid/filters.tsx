import { useEffect, useRef, useState } from 'preact/hooks';
import { STATUSES } from '../../../src/core/model/status.ts';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { ROW_FILTERS, type RowFilter, type RowQuery } from '../../../src/core/page/row-query.ts';
import { Badge } from '../../parts/badge.tsx';
import { wholeNumber } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { ColumnChooser } from './column-chooser.tsx';

interface FiltersProps {
  readonly shift: ShiftAnswer;
  readonly query: RowQuery;
  readonly size: { readonly total: number; readonly matching: number } | undefined;
  readonly onQuery: (query: RowQuery, how?: 'push' | 'replace') => void;
}

/** Counts that are filters, failure groups that are filters, search and columns. It stays while the rows scroll. */
export function Filters({ shift, query, size, onQuery }: FiltersProps) {
  return (
    <>
      <StatusFilters shift={shift} query={query} onQuery={onQuery} />
      <div class="filter-fields">
        {shift.columns.tasks.length > 1 && <TaskFilter shift={shift} query={query} onQuery={onQuery} />}
        {shift.groups.length > 0 && <GroupFilter shift={shift} query={query} onQuery={onQuery} />}
        <Search query={query} onQuery={onQuery} />
        <ColumnChooser columns={shift.columns} query={query} onQuery={onQuery} />
        <span class="matching" role="status">
          {size && size.matching !== size.total
            ? `${wholeNumber(size.matching)} of ${wholeNumber(size.total)} rows`
            : size && `${wholeNumber(size.total)} rows`}
        </span>
      </div>
    </>
  );
}

type PartProps = Pick<FiltersProps, 'shift' | 'query' | 'onQuery'>;

function StatusFilters({ shift, query, onQuery }: PartProps) {
  const task = query.task === undefined ? -1 : shift.columns.tasks.indexOf(query.task);
  const counts = shift.rowCounts.tasks[task] ?? shift.rowCounts.all;
  const isShown = (filter: RowFilter) =>
    STATUSES.some((status) => status === filter) || counts[filter] > 0 || query.status.includes(filter);
  const toggle = (status: RowFilter) => {
    const isOn = query.status.includes(status);
    onQuery({ ...query, status: isOn ? query.status.filter((each) => each !== status) : [...query.status, status] });
  };
  const isAll = query.status.length === 0 && query.group === undefined && query.search === undefined;
  const { task: _, group: __, search: ___, ...others } = query;
  return (
    <fieldset class="chips">
      <legend class="for-readers">Show rows with a task that is</legend>
      <button type="button" class="chip" aria-pressed={isAll} onClick={() => onQuery({ ...others, status: [] })}>
        All
      </button>
      {ROW_FILTERS.filter(isShown).map((status) => (
        <button
          key={status}
          type="button"
          class="chip"
          aria-pressed={query.status.includes(status)}
          disabled={counts[status] === 0 && !query.status.includes(status)}
          onClick={() => toggle(status)}
        >
          <Badge status={status} hasName />
          <b>{wholeNumber(counts[status])}</b>
        </button>
      ))}
    </fieldset>
  );
}

function TaskFilter({ shift, query, onQuery }: PartProps) {
  const choose = (task: string) => {
    const { task: _, ...rest } = query;
    onQuery(task === '' ? rest : { ...rest, task });
  };
  return (
    <select aria-label="Task" value={query.task ?? ''} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">all tasks</option>
      {shift.columns.tasks.map((task) => (
        <option key={task} value={task}>
          {visibleText(task)}
        </option>
      ))}
    </select>
  );
}

function GroupFilter({ shift, query, onQuery }: PartProps) {
  const choose = (group: string) => {
    const { group: _, ...rest } = query;
    onQuery(group === '' ? rest : { ...rest, group });
  };
  return (
    <select
      aria-label="Failure group"
      class="group-filter"
      value={query.group ?? ''}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">any reason</option>
      {shift.groups.map(({ id, items, reason }) => (
        <option key={id} value={id}>
          {`${wholeNumber(items)} ${visibleText(reason).replace(/\s+/g, ' ').slice(0, 80)}`}
        </option>
      ))}
    </select>
  );
}

const TYPING_MS = 300;

/** Asked after a pause in typing, or at once with Enter. */
function Search({ query, onQuery }: Pick<FiltersProps, 'query' | 'onQuery'>) {
  const [text, setText] = useState(query.search ?? '');
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== field.current) setText(query.search ?? '');
  }, [query.search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (value: string) => {
    clearTimeout(timer.current);
    const { search: _, ...rest } = query;
    onQuery(value.trim() === '' ? rest : { ...rest, search: value }, 'replace');
  };
  return (
    <input
      ref={field}
      id="search"
      type="search"
      placeholder="Search cells and reasons  /"
      aria-label="Search cells and reasons"
      value={text}
      onInput={({ currentTarget: { value } }) => {
        setText(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => search(value), TYPING_MS);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') search(event.currentTarget.value);
        if (event.key === 'Escape') event.currentTarget.blur();
      }}
    />
  );
}
