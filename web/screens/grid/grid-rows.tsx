import type { GridRow, SessionAnswer, ShiftId } from '../../../src/core/page/answers.ts';
import { sessionsOf } from '../../live/live.ts';
import type { ItemPlace } from '../../state/place.ts';
import type { GridColumn } from './grid-layout.ts';
import { Row } from './grid-row.tsx';
import type { RowPages } from './row-pages.ts';
import { isSelected, type Selection } from './selection.ts';
import type { GridWindow } from './use-window.ts';

interface GridRowsProps {
  readonly pages: RowPages;
  readonly view: GridWindow;
  readonly columns: readonly GridColumn[];
  readonly shift: ShiftId;
  readonly selection: Selection;
  readonly onSelect: ((row: GridRow) => void) | undefined;
  readonly to: (item: string) => ItemPlace;
}

/** The rows that are visible, at their place in a space as high as the whole table. */
export function GridRows({ pages, view, columns, shift, selection, onSelect, to }: GridRowsProps) {
  const count = pages.size.value?.matching ?? 0;
  // Reading it draws the rows again when they arrive.
  pages.changes.value;
  const sessions = sessionsByItem(sessionsOf(shift).value);
  const { first, end } = view.range;
  const indices = Array.from({ length: Math.max(0, Math.min(end, count) - first) }, (_, offset) => first + offset);
  const activate = (event: Event) => {
    const index = (event.target as Element).closest('[data-index]')?.getAttribute('data-index');
    if (index) view.setActive(Number(index));
  };
  return (
    <div
      role="rowgroup"
      class="grid-rows"
      ref={view.rows}
      style={{ height: `${count * view.rowHeight}px` }}
      onFocusIn={activate}
      onMouseDown={activate}
    >
      <div role="presentation" style={{ transform: `translateY(${first * view.rowHeight}px)` }}>
        {indices.map((index) => {
          const row = pages.at(index);
          return (
            <Row
              key={index}
              row={row}
              index={index}
              columns={columns}
              isActive={index === view.active}
              isSelected={isSelected(selection, row?.item)}
              onSelect={onSelect}
              to={to}
              sessions={row && sessions.get(row.item)}
            />
          );
        })}
      </div>
    </div>
  );
}

function sessionsByItem(sessions: readonly SessionAnswer[]): Map<string, Map<string, SessionAnswer>> {
  const found = new Map<string, Map<string, SessionAnswer>>();
  for (const session of sessions) {
    const tasks = found.get(session.item) ?? new Map<string, SessionAnswer>();
    found.set(session.item, tasks.set(session.task, session));
  }
  return found;
}
