import { signal } from '@preact/signals';
import type { ShiftId } from '../../src/core/page/answers.ts';
import { type RowQuery, readRowQuery, writeRowQuery } from '../../src/core/page/row-query.ts';

/** What the window shows. It is the query of the address, so that it can be kept, sent and reloaded. */
export type Place =
  | { readonly screen: 'shifts' }
  | { readonly screen: 'grid'; readonly shift: ShiftId; readonly query: RowQuery }
  | ItemPlace
  | {
      readonly screen: 'steps';
      readonly shift: ShiftId;
      readonly task?: string | undefined;
      readonly from?: number | undefined;
      readonly to?: number | undefined;
    }
  | { readonly screen: 'charts'; readonly shift: ShiftId }
  | EventsPlace;

export interface ItemPlace {
  readonly screen: 'item';
  readonly shift: ShiftId;
  readonly item: string;
  /** Of the grid that it was opened from. */
  readonly query: RowQuery;
  readonly task?: string | undefined;
  readonly role?: 'dev' | 'qa' | undefined;
  readonly attempt?: number | undefined;
}

export interface EventsPlace {
  readonly screen: 'events';
  readonly shift: ShiftId;
  readonly type?: string | undefined;
  readonly task?: string | undefined;
  readonly item?: string | undefined;
}

export const ALL_ROWS: RowQuery = { status: [], isDescending: false, columns: [] };

/** Anything that it does not know leads to the nearest screen that it does. */
export function readPlace(search: string): Place {
  const params = new URLSearchParams(search);
  const text = (name: string) => params.get(name) || undefined;
  const shift = text('shift');
  if (shift === undefined) return { screen: 'shifts' };
  const [item, task] = [text('item'), text('task')];
  switch (text('screen')) {
    case 'item':
      if (item === undefined) break;
      return {
        screen: 'item',
        shift,
        item,
        query: readRowQuery(params),
        task: text('item-task'),
        role: text('role') === 'qa' ? 'qa' : text('role') === 'dev' ? 'dev' : undefined,
        attempt: numberIn(text('attempt')),
      };
    case 'steps':
      return { screen: 'steps', shift, task, from: numberIn(text('from')), to: numberIn(text('to')) };
    case 'charts':
      return { screen: 'charts', shift };
    case 'events':
      return { screen: 'events', shift, type: text('type'), task, item };
  }
  return { screen: 'grid', shift, query: readRowQuery(params) };
}

export function addressOf(place: Place): string {
  if (place.screen === 'shifts') return '/';
  const params = new URLSearchParams({ shift: place.shift });
  if (place.screen !== 'grid') params.set('screen', place.screen);
  const add = (values: Readonly<Record<string, string | number | undefined>>) => {
    for (const [name, value] of Object.entries(values)) if (value !== undefined) params.set(name, String(value));
  };
  if (place.screen === 'item') {
    add({ item: place.item, 'item-task': place.task, role: place.role, attempt: place.attempt });
  } else if (place.screen === 'steps') add({ task: place.task, from: place.from, to: place.to });
  else if (place.screen === 'events') add({ type: place.type, task: place.task, item: place.item });
  if ('query' in place) for (const [name, value] of writeRowQuery(place.query)) params.append(name, value);
  return `/?${params}`;
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

export const place = signal<Place>({ screen: 'shifts' });

/** `replace`: going back skips the place that is left. */
export function go(to: Place, how: 'push' | 'replace' = 'push'): void {
  const address = addressOf(to);
  if (how === 'replace') history.replaceState(null, '', address);
  else if (address !== `${location.pathname}${location.search}`) history.pushState(null, '', address);
  place.value = to;
}

export function followAddress(): void {
  const read = () => {
    place.value = readPlace(location.search);
  };
  addEventListener('popstate', read);
  read();
}
