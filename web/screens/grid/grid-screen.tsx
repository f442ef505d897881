import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { GridRow, ShiftAnswer } from '../../../src/core/page/answers.ts';
import { type RowQuery, writeRowQuery } from '../../../src/core/page/row-query.ts';
import { ticksOf } from '../../live/live.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { addressOf, go, type ItemPlace, type Place } from '../../state/place.ts';
import { mayAct } from '../../state/project.ts';
import { RunBar } from '../shift/run-bar.tsx';
import { AtWork } from './at-work.tsx';
import { FailureGroups } from './failure-groups.tsx';
import { Filters } from './filters.tsx';
import { GridHead } from './grid-head.tsx';
import { gridColumns, gridStyle, shownColumns } from './grid-layout.ts';
import { GridRows } from './grid-rows.tsx';
import { RowPages } from './row-pages.ts';
import { choiceOf, isEmpty, NOTHING, type Selection, toggled } from './selection.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useGridKeys } from './use-grid-keys.ts';
import { useWindow } from './use-window.ts';

type GridPlace = Extract<Place, { screen: 'grid' }>;

interface GridScreenProps {
  readonly place: GridPlace;
  readonly shift: ShiftAnswer;
}

/** The home of a shift: what happened, what needs you, and all rows. */
export function GridScreen({ place, shift }: GridScreenProps) {
  const { query } = place;
  const isActing = mayAct(shift);
  const chosen = useSignal<Selection>(NOTHING);
  const selection = chosen.value;
  const select = (next: Selection) => {
    chosen.value = next;
  };
  const pages = useRowPages(shift, query);
  const count = pages.size.value?.matching ?? 0;
  const view = useWindow(addressOf(place), count);
  useEffect(() => pages.show(view.range), [pages, view.range]);
  const columns = gridColumns(shift.columns, shownColumns(shift.columns, query));
  const setQuery = (next: RowQuery, how: 'push' | 'replace' = 'push') => {
    select(NOTHING);
    go({ ...place, query: next }, how);
  };
  const itemPlace = (item: string): ItemPlace => ({ screen: 'item', shift: shift.id, item, query });
  const toggle = (row: GridRow) => select(toggled(chosen.value, row.item));
  useGridKeys({
    shift,
    view,
    active: () => pages.at(view.latestActive() ?? -1),
    choice: () => (isEmpty(chosen.value) ? undefined : choiceOf(chosen.value, query)),
    open: (row) => go(itemPlace(row.item)),
    toggle,
    clear: () => select(NOTHING),
  });
  return (
    <main class="scroller" ref={view.scroller} tabIndex={0} aria-label="Rows">
      <div class="wide" style={gridStyle(columns)}>
        <RunBar shift={shift} />
        <div class="panels">
          <FailureGroups shift={shift} query={query} onQuery={setQuery} />
          <AtWork shift={shift} itemPlace={itemPlace} />
        </div>
        <FailureNote failure={pages.failure.value} />
        <div class="filters" ref={view.filters}>
          <Filters shift={shift} query={query} size={pages.size.value} onQuery={setQuery} />
        </div>
        <div role="table" aria-label="Rows and tasks" aria-rowcount={count + 1}>
          <div role="rowgroup" class="grid-sticky" ref={view.head} style={{ top: `${view.filtersHeight}px` }}>
            <GridHead
              shift={shift}
              columns={columns}
              query={query}
              isAllSelected={selection === 'matching'}
              onSelectAll={isActing ? () => select(selection === 'matching' ? NOTHING : 'matching') : undefined}
              onQuery={setQuery}
            />
          </div>
          <GridRows
            pages={pages}
            view={view}
            columns={columns}
            shift={shift.id}
            selection={selection}
            onSelect={isActing ? toggle : undefined}
            to={itemPlace}
          />
        </div>
        {pages.size.value && count === 0 && <p class="empty">No row matches.</p>}
        <SelectionBar shift={shift} query={query} matching={count} selection={selection} onSelect={select} />
      </div>
    </main>
  );
}

function useRowPages(shift: ShiftAnswer, query: RowQuery): RowPages {
  const asked = { ...query, columns: shownColumns(shift.columns, query) };
  const key = writeRowQuery(asked).toString();
  // `key` is the query
  const pages = useMemo(() => new RowPages(shift.id, asked), [shift.id, key]);
  useEffect(() => () => pages.close(), [pages]);
  const tick = ticksOf(shift.id).value;
  const first = useRef(tick);
  useEffect(() => {
    if (tick !== first.current) pages.refresh();
    first.current = tick;
  }, [tick, pages]);
  return pages;
}
