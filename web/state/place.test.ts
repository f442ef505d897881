import { expect, test } from 'vitest';
import { ALL_ROWS, addressOf, type Place, readPlace } from './place.ts';

const query = { ...ALL_ROWS, status: ['failed', 'held'], search: 'a & b = "c"', columns: ['topic'] } as const;

const places: readonly Place[] = [
  { screen: 'shifts' },
  { screen: 'grid', shift: 'pages', query },
  {
    screen: 'grid',
    shift: 'archive/2026-11-18-pages',
    query: { ...ALL_ROWS, sort: { by: 'cost' }, isDescending: true },
  },
  { screen: 'item', shift: 'pages', item: 'id#1?', query, task: 'write', role: 'qa', attempt: 2 },
  { screen: 'steps', shift: 'pages', task: 'write', from: 1, to: 3 },
  { screen: 'charts', shift: 'pages' },
  { screen: 'events', shift: 'pages', type: 'item:recorded', task: 'write', item: 'id1' },
];

test('what a window shows is in its address, so that it can be reloaded and sent', () => {
  for (const place of places) {
    const address = addressOf(place);
    expect(readPlace(address.slice(1))).toEqual(place);
    expect(address, 'a fragment is where the token is').not.toContain('#');
  }
});

test('an address with unknown parts leads to the nearest screen', () => {
  expect(readPlace('?screen=charts')).toEqual({ screen: 'shifts' });
  expect(readPlace('?shift=pages&screen=film&status=lost')).toEqual({
    screen: 'grid',
    shift: 'pages',
    query: ALL_ROWS,
  });
  expect(readPlace('?shift=pages&screen=item')).toMatchObject({ screen: 'grid' });
  expect(readPlace('?shift=pages&screen=steps&to=1e9')).toMatchObject({ screen: 'steps', to: undefined });
});
