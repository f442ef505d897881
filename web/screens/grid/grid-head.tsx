import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';
import { STATUSES } from '../../../src/core/model/status.ts';
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
    // biome-ignore lint/a11y/useFocusableInteractive: the buttons in it have the focus
    // biome-ignore lint/a11y/useSemanticElements: a virtual table has no table elements
    <div role="row" class="grid-row grid-head" aria-rowindex={1}>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
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
        <HeadCell key={`${column.kind} ${column.title}`} shift={shift} column={column} query={query} onQuery={onQuery} />
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
    // biome-ignore lint/a11y/useFocusableInteractive: the button in it has the focus
    // biome-ignore lint/a11y/useSemanticElements: a virtual table has no table elements
    <span
      role="columnheader"
      class={column.isNumber ? 'grid-cell number' : 'grid-cell'}
      aria-sort={isSorted ? direction : 'none'}
    >
      <button type="button" class="sort" onClick={() => onQuery(nextSort(query, column))}>
        <span class="sort-title">{visibleText(column.title)}</span>
        <span class="sort-mark" aria-hidden="true">
          {isSorted ? (query.isDescending ? '▾' : '▴') : ''}
        </span>
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
