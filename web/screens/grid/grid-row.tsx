import type { GridCell, GridRow, SessionAnswer } from '../../../src/core/page/answers.ts';
import { Badge } from '../../parts/badge.tsx';
import { dollars, durationText } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import type { ItemPlace } from '../../state/place.ts';
import { PACE_TEXTS } from './at-work.tsx';
import { attemptsOf, type GridColumn } from './grid-layout.ts';

interface RowProps {
  /** Undefined while it is loaded. */
  readonly row: GridRow | undefined;
  /** Among the rows that match, from 0. */
  readonly index: number;
  readonly columns: readonly GridColumn[];
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onSelect: ((row: GridRow) => void) | undefined;
  readonly to: (item: string) => ItemPlace;
  /** Of this row, by task. */
  readonly sessions: ReadonlyMap<string, SessionAnswer> | undefined;
}

export const linkId = (index: number) => `row-${index}`;

export function Row({ row, index, columns, isActive, isSelected, onSelect, to, sessions }: RowProps) {
  const hasLabel = columns.some(({ kind }) => kind === 'label');
  const classes = ['grid-row', isActive ? 'is-active' : '', isSelected ? 'is-selected' : ''];
  const link = (text: string) =>
    row && (
      <Link to={to(row.item)} id={linkId(index)} class="row-link">
        {text}
      </Link>
    );
  const content = (column: GridColumn) => {
    if (!row) return column.kind === 'row' ? '…' : '';
    switch (column.kind) {
      case 'row':
        return hasLabel ? row.row : link(String(row.row));
      case 'label':
        return link(visibleText(row.label ?? `row ${row.row}`));
      case 'task':
        return <TaskCell cell={row.tasks[column.at]} session={sessions?.get(column.title)} />;
      case 'cell':
        return <span class="cell-text">{visibleText(row.cells[column.at] ?? '').replace(/\s+/g, ' ')}</span>;
      case 'attempts':
        return attemptsOf(row) || '';
      case 'ms':
        return row.ms === undefined ? '' : durationText(row.ms);
      case 'cost':
        return row.costUsd === undefined ? '' : dollars(row.costUsd);
    }
  };
  return (
    <div role="row" class={classes.join(' ')} aria-rowindex={index + 2} data-index={index}>
      <Cell>
        {row && onSelect && (
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select row ${row.row}`}
            checked={isSelected}
            onChange={() => onSelect(row)}
          />
        )}
      </Cell>
      {columns.map((column) => (
        <Cell key={`${column.kind} ${column.title}`} isNumber={column.isNumber}>
          {content(column)}
        </Cell>
      ))}
    </div>
  );
}

function Cell({ isNumber = false, children }: { readonly isNumber?: boolean; readonly children?: unknown }) {
  return (
    <span role="cell" class={isNumber ? 'grid-cell number' : 'grid-cell'}>
      {children as never}
    </span>
  );
}

interface TaskCellProps {
  readonly cell: GridCell | undefined;
  readonly session: SessionAnswer | undefined;
}

/** What an item in flight does; why it failed. */
function TaskCell({ cell, session }: TaskCellProps) {
  if (!cell) return null;
  const pace = session ? PACE_TEXTS[session.pace] : '';
  const worker = session ? session.worker : cell.worker;
  const text = session ? (session.doing ?? session.role) : (cell.reason ?? '');
  const shown = visibleText(text).replace(/\s+/g, ' ');
  return (
    <>
      <Badge status={cell.isBlocked ? 'blocked' : cell.status} />
      {cell.attempts > 1 && (
        <span class="dim" title={`${cell.attempts} attempts`}>
          ×{cell.attempts}
        </span>
      )}
      {worker !== undefined && <span class="dim">on {visibleText(worker)}</span>}
      {pace !== '' && <span class="text-warning">{pace}</span>}
      {shown !== '' && (
        <span class={session ? 'cell-doing' : 'cell-reason'} title={shown}>
          {shown}
        </span>
      )}
    </>
  );
}
