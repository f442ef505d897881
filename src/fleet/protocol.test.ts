import { expect, test } from 'vitest';
import type { Order } from '../core/model/model.ts';
import { readReport, readSentOrder } from './protocol.ts';

test.each([
  ['dev', 'qa', true],
  ['dev', 'failed', true],
  ['dev', 'done', false],
  ['dev', undefined, true],
  ['qa', 'done', true],
  ['qa', 'failed', true],
  ['qa', 'qa', false],
  ['qa', undefined, true],
] as const)('a report of a %s may end its item as %s: %s', (role, to, isRead) => {
  const report = reported(role, { ...(to === undefined ? {} : { to }) });
  expect(report !== undefined).toBe(isRead);
  if (report) expect(report.outcome).toMatchObject({ id: 'own', token: 'now' });
});

test.each([
  ['is in the table', ['by'], { by: 'w' }, { by: 'w' }],
  ['does not count if the task does not declare it: it may be the status of another task', [], { later: 'done' }, {}],
  ['must be there if the task declares it', ['by'], {}, undefined],
  ['must fit into a cell', ['by'], { by: 'x'.repeat(2 ** 20 + 1) }, undefined],
] as const)('an output %s', (_, declared, outputs, read) => {
  expect(reported('dev', { to: 'qa', outputs }, declared)?.outcome).toEqual(
    read && expect.objectContaining({ outputs: read }),
  );
});

test('a time that no clock can show makes a report invalid', () => {
  expect(reported('dev', { trouble: { reason: 'limit', until: 8e15 } })).toBeDefined();
  expect(reported('dev', { trouble: { reason: 'limit', until: 1e300 } })).toBeUndefined();
});

test('an order is read with its fields as they were written: adoption compares them as text', () => {
  const order = { settings: { tools: [], timeoutMs: 1, agent: 'a' }, task: 't', role: 'dev', token: 'n' };
  const work = { order: { ...order, item: { label: 'l', index: 0, id: 'i' } }, kind: 'item' };
  const body = JSON.stringify({ work, needs: [], shift: { name: 's', key: 'k' }, id: 'o', protocol: 1 });
  expect(JSON.stringify(readSentOrder(body))).toBe(body);
});

function reported(role: 'dev' | 'qa', more: object, declared: readonly string[] = []) {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  const outcome = { role, attempts: 1, ...nothing, ...more };
  const order = { role, item: { id: 'own' }, token: 'now', settings: { outputs: declared } } as unknown as Order;
  return readReport({ worker: 'one', lines: 0, outcome }, { kind: 'item', order });
}
