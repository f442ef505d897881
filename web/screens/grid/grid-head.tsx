import { STATUSES } from '../../../src/core/model/status.ts';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';
import { wholeNumber } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { type GridColumn, isSame, nextSort } from './grid-layout.ts';

interface GridHeadProps {
  readonly shift: ShiftAnswer;
  readonly columns: readonly GridColumn[];
  readonly query: RowQuery;
  readonly isAllSelected: boolean;
  readonly onSelectAll: (() => void) | undefined;
  readonly onQuery: (query: RowQuery) => void;
}

export function GridHead({ shift, columns, query, isAllSelected, onSelectAll, onQuery }: GridHeadProps) {
  return (
    <div role="row" class="grid-row grid-head" aria-rowindex={1}>
      <span role="columnheader" class="grid-cell">
        {onSelectAll ? (
          <input
            type="checkbox"
            aria-label="Select all rows that match"
            checked={isAllSelected}
            onChange={onSelectAll}
          />
        ) : (
          <span class="for-readers">Selected</span>
        )}
      </span>
      {columns.map((column) => (
        <HeadCell
          key={`${column.kind} ${column.title}`}
          shift={shift}
          column={column}
          query={query}
          onQuery={onQuery}
        />
      ))}
    </div>
  );
}

interface HeadCellProps extends Pick<GridHeadProps, 'shift' | 'query' | 'onQuery'> {
  readonly column: GridColumn;
}

function HeadCell({ shift, column, query, onQuery }: HeadCellProps) {
  const isSorted = isSame(query.sort, column.sort);
  const direction = query.isDescending ? 'descending' : 'ascending';
  const counts = column.kind === 'task' ? shift.status.tasks[column.at]?.counts : undefined;
  return (
    <span
      role="columnheader"
      class={column.isNumber ? 'grid-cell number' : 'grid-cell'}
      aria-sort={isSorted ? direction : 'none'}
    >
      <button type="button" class="sort" onClick={() => onQuery(nextSort(query, column))}>
        <span class="sort-title">{visibleText(column.title)}</span>
        {isSorted && <span aria-hidden="true">{query.isDescending ? '▾' : '▴'}</span>}
      </button>
      {counts && (
        <span
          class="task-bar"
          title={STATUSES.map((status) => `${wholeNumber(counts[status])} ${status}`).join(', ')}
          aria-hidden="true"
        >
          {(['done', 'failed', 'qa', 'in_progress', 'todo'] as const).map((status) => (
            <span key={status} class={`task-bar-part is-${status}`} style={{ flexGrow: String(counts[status]) }} />
          ))}
        </span>
      )}
    </span>
  );
}
