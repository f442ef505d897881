import { expect, test } from 'vitest';
import { eventOf, type NumberedLine, type Origin, readLine } from './lines.ts';

const dev: Origin = { role: 'dev', key: 'key', agent: 'a', subject: { task: 'work', index: 1, item: 'own' } };
const line = (what: object) => ({ n: 1, what }) as NumberedLine;
const entry = { kind: 'text', text: 'hello' };

test('what the coordinator knows about an order counts, whatever its worker says', () => {
  const forged = { task: 'other', index: 9, item: 'other', label: 'x', order: 'o', n: 7, worker: 'w', at: 'x', seq: 1 };
  const said = { ...forged, run: 'r', role: '/../../journal', key: '../../key', attempt: 2 };
  const told = { type: 'item:recorded', to: 'failed' };
  const own = { task: 'work', index: 1, item: 'own', attempt: 2 };
  expect(eventOf(line({ type: 'transcript', ...said, entry: { ...entry, ...told } }), dev)).toEqual({
    ...{ type: 'transcript', role: 'dev', key: 'key', entry },
    ...own,
  });
  const usage = { costUsd: 1, minusUsd: 5 };
  expect(eventOf(line({ type: 'usage:spent', ...said, agent: 'a', usage, ms: 9 }), dev)).toEqual({
    ...{ type: 'usage:spent', role: 'dev', agent: 'a', usage: { costUsd: 1 } },
    ...own,
  });
});

test('for an unknown order, only spending and refusals count, and name no item', () => {
  const said = { task: 'work', index: 1, item: 'own', worker: 'w' };
  const spent = { role: 'qa', agent: 'a', usage: { costUsd: 1 } };
  expect(eventOf(line({ type: 'usage:spent', ...said, ...spent }), undefined)).toEqual({
    type: 'usage:spent',
    ...spent,
  });
  expect(eventOf(line({ type: 'result:refused', ...said, reason: 'late' }), undefined)).toEqual({
    type: 'result:refused',
    reason: 'late',
  });
  expect(eventOf(line({ type: 'run:warning', ...said, message: 'm' }), undefined)).toBeUndefined();
});

test.each([
  [{ type: 'transcript' }],
  [{ type: 'transcript', entry: { kind: 'text' } }],
  [{ type: 'transcript', entry: { kind: 'item:recorded', text: '' } }],
  [{ type: 'usage:spent', agent: 'a', usage: { costUsd: -1 } }],
  [{ type: 'usage:spent', agent: 'a', usage: { costUsd: 1e300 } }],
  [{ type: 'dev:finished', status: 'SUCCESS', attempts: 'many', ms: 1 }],
  [{ type: 'run:warning', message: {} }],
  [{ type: 'qa:started', agent: 'a' }],
])('a dev does not send %j', (what) => {
  expect(eventOf(line(what), dev)).toBeUndefined();
});

test.each([
  [{ n: 0, what: { type: 'transcript' } }],
  [{ n: 1e300, what: { type: 'transcript' } }],
  [{ n: 1, what: { type: 'item:recorded' } }],
  [{ what: { type: 'transcript' } }],
  [null],
])('%j is no line', (data) => {
  expect(readLine(data)).toBeUndefined();
});
