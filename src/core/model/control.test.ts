import { expect, test } from 'vitest';
import { parseRequests, parseState, withoutPause, withPause, withStop } from './control.ts';

const at = '2026-01-30T22:00:00.000Z';
const later = '2026-01-30T23:00:00.000Z';
const request = { id: 'one', at, pid: 7, now: false };

test('X8 a request that asks for nothing more leaves the one before in place', () => {
  const stop = { ...request, run: 'r1' };
  const draining = withStop({}, stop);
  expect(draining).toEqual({ stop });
  expect(withStop(draining, { ...stop, id: 'two' })).toBe(draining);
  const stopping = withStop(draining, { ...stop, id: 'two', now: true });
  expect(stopping.stop).toMatchObject({ id: 'two', now: true });
  expect(withStop(stopping, stop)).toBe(stopping);
  // That of another run is over.
  expect(withStop(stopping, { ...stop, run: 'r2' }).stop).toMatchObject({ run: 'r2', now: false });
});

test('X8 a pause keeps its time when it becomes one at once, and leaves a stop alone', () => {
  const stop = { ...request, run: 'r1' };
  const paused = withPause({ stop }, request);
  expect(withPause(paused, { ...request, at: later })).toBe(paused);
  const atOnce = withPause(paused, { ...request, id: 'two', at: later, now: true });
  expect(atOnce).toEqual({ stop, pause: { ...request, id: 'two', now: true } });
  expect(withPause(atOnce, request)).toBe(atOnce);
  expect(withoutPause(atOnce)).toEqual({ stop });
});

test('X8 a stop may turn into one that leaves items with workers, and that into one at once', () => {
  const stop = { ...request, run: 'r1' };
  const leave = { ...stop, id: 'two', leave: true };
  const left = withStop({ stop }, leave);
  expect(left).toEqual({ stop: leave });
  expect([withStop(left, stop), withStop(left, { ...leave, id: 'three' })]).toEqual([left, left]);
  const now = withStop(left, { ...stop, id: 'four', now: true });
  expect(now.stop).toMatchObject({ id: 'four', now: true });
  expect(withStop(now, leave)).toBe(now);
});

test('X8 what is not a request is passed over, and a damaged file asks for nothing', () => {
  const stop = { ...request, run: 'r1' };
  expect(parseRequests(JSON.stringify({ stop, pause: request, set: 1 }))).toEqual({ stop, pause: request });
  const wrong = [{ ...request, now: 1 }, { ...request, at: '\u001b[31m' }, { ...request, id: 3 }, [], null, 'x'];
  for (const pause of wrong) expect(parseRequests(JSON.stringify({ pause, stop: request }))).toEqual({});
  for (const text of ['', '{', '[]', 'null']) expect(parseRequests(text)).toBeUndefined();
});

test('X8 the answer of a run is read as far as it is one', () => {
  const obeyed = { draining: false, stopping: false, leaving: true };
  const state = { run: 'r1', ...obeyed, fleet: 'env', running: 2, pause: { since: at, now: true } };
  expect(parseState(JSON.stringify(state))).toEqual(state);
  expect(parseState(JSON.stringify({ run: 'r1', fleet: 'sea', pause: {} }))).toEqual({
    run: 'r1',
    draining: false,
    stopping: false,
    leaving: false,
    running: 0,
  });
  expect(parseState('{}')).toBeUndefined();
});
