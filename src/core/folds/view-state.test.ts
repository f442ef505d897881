import { expect, test } from 'vitest';
import type { Happening, NightshiftEvent } from '../model/events.ts';
import { estimateFinish } from './estimate.ts';
import { ViewState } from './view-state.ts';

const START = Date.UTC(2026, 0, 2, 22);

/** A run of two tasks over 10 items, 3 of them done, one failed in the first task. */
function started(): { state: ViewState; add: (second: number, happening: Happening) => void } {
  const state = new ViewState();
  let seq = 0;
  const add = (second: number, happening: Happening) =>
    state.add({
      at: new Date(START + second * 1000).toISOString(),
      run: 'r',
      seq: ++seq,
      shift: 'site',
      ...happening,
    } as NightshiftEvent);
  const none = { todo: 0, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
  add(0, {
    type: 'run:started',
    total: 10,
    tasks: ['draft', 'print'],
    parallel: true,
    stream: false,
    agent: 'command',
    pid: 1,
    recovered: 0,
    waiting: 0,
    counts: [
      { ...none, task: 'draft', todo: 6, done: 3, failed: 1 },
      { ...none, task: 'print', todo: 10, blocked: 1 },
    ],
    hasModel: true,
    limits: { 'max-cost': 5, 'max-duration': 60_000 },
    spent: { usage: { costUsd: 1 }, ms: 2000, failures: 0 },
  });
  return { state, add };
}

const of = (index: number, task = 'draft') => ({ task, index, item: `id${index}` });
const dev = (index: number): Happening => ({
  type: 'dev:started',
  ...of(index),
  agent: 'command',
  key: `k${index}`,
  version: 'v',
});
const devEnd = (index: number, ms: number, status = 'SUCCESS'): Happening => ({
  type: 'dev:finished',
  ...of(index),
  status,
  attempts: 1,
  ms,
  key: `k${index}`,
});

test('X8 the fold follows an item from todo to done, and a failure blocks the later tasks of its item', () => {
  const { state, add } = started();
  expect(state.counts.total).toBe(20);
  expect(state.remaining).toBe(15);
  add(1, { type: 'batch:claimed', task: 'draft', indices: [4, 5], size: 2 });
  add(1, dev(4));
  add(1, dev(5));
  expect(state.counts).toMatchObject({ todo: 14, in_progress: 2 });
  expect([...state.running.values()].map(({ index, role, attempt }) => [index, role, attempt])).toEqual([
    [4, 'dev', 1],
    [5, 'dev', 1],
  ]);
  add(5, { type: 'attempt:finished', ...of(5), attempt: 1, status: 'FAILED (step 1)', reason: 'no' });
  expect([...state.running.values()].map(({ attempt }) => attempt)).toEqual([1, 2]);
  add(5, { type: 'usage:spent', ...of(4), role: 'dev', agent: 'command', usage: { inputTokens: 20, costUsd: 1 } });
  add(6, devEnd(4, 5000));
  add(6, { type: 'item:recorded', ...of(4), from: 'in_progress', to: 'qa' });
  expect(state.counts).toMatchObject({ in_progress: 1, qa: 1 });
  add(7, { type: 'qa:started', ...of(4), agent: 'command', key: 'k4' });
  expect(state.running.get('draft id4')).toMatchObject({ role: 'qa', key: 'k4' });
  add(8, { type: 'usage:spent', ...of(4), role: 'qa', agent: 'codex', usage: { inputTokens: 5 } });
  add(8, {
    type: 'qa:finished',
    ...of(4),
    status: 'PASS',
    ms: 1000,
    verdicts: [],
    key: 'k4',
  });
  add(8, { type: 'item:recorded', ...of(4), from: 'qa', to: 'done' });
  add(9, devEnd(5, 8000, 'FAILED (step 1)'));
  add(9, { type: 'item:recorded', ...of(5), from: 'in_progress', to: 'failed', reason: 'no paper' });
  expect(state.counts).toEqual({ todo: 14, in_progress: 0, qa: 0, done: 4, failed: 2, blocked: 2 });
  expect(state.remaining).toBe(12);
  expect(state.failures).toEqual([{ task: 'draft', index: 5, reason: 'no paper' }]);
  expect(state.usage).toEqual({ inputTokens: 25, costUsd: 1, unpricedTokens: 5 });
  expect(state.running.size).toBe(0);
  expect(state.ends).toHaveLength(2);
});

test('X8 what is given back, withdrawn, edited or unknown keeps the counts right', () => {
  const { state, add } = started();
  for (const index of [4, 5, 6, 7]) add(1, dev(index));
  add(2, { type: 'item:returned', ...of(4), reason: 'rate limit' });
  add(2, { type: 'item:withdrawn', ...of(5), to: 'failed', reason: 'by hand' });
  add(2, { type: 'item:withdrawn', ...of(6), to: null, reason: 'by hand' });
  add(2, {
    type: 'table:edited',
    by: 'process 1',
    changes: [{ item: 'id7', column: 'draft', from: 'in_progress', to: 'todo' }],
  });
  add(2, { type: 'item:withdrawn', ...of(7), to: 'todo', reason: 'by hand' });
  // In a stream a qa may begin before the end of its dev is recorded.
  add(2, dev(4));
  add(2, { type: 'qa:started', ...of(4), agent: 'shell', key: 'k' });
  add(2, { type: 'item:withdrawn', ...of(4), reason: 'somebody set it to todo' });
  expect(state.counts).toMatchObject({ todo: 14, in_progress: 0, failed: 2 });
  expect(state.running.size).toBe(0);
  add(3, { type: 'table:grew', rows: 3 });
  expect(state.counts.todo).toBe(20);
  // The last task of an item makes it done, also by hand.
  const edit = (from: string, to: string): Happening => {
    return { type: 'table:edited', by: 'process 1', changes: [{ item: 'id1', column: 'print', from, to }] };
  };
  add(3, { type: 'item:recorded', ...of(1, 'print'), from: 'todo', to: 'done' });
  add(3, edit('done', 'todo'));
  expect(state.itemsDone).toBe(0);
  add(3, edit('todo', 'done'));
  add(3, edit('done', 'todo'));
  add(3, { type: 'item:recorded', ...of(1, 'print'), from: 'todo', to: 'done' });
  expect([state.itemsDone, state.counts.done]).toEqual([1, 4]);
  add(3, edit('done', 'todo'));
  add(3, { type: 'moon:risen', task: 'draft' } as unknown as Happening);
  expect(state.counts.todo).toBe(20);
});

test('X8 what a qa sends back to its dev is counted once, and shown with the attempt that it is at', () => {
  const { state, add } = started();
  add(1, dev(4));
  const during = { ...state.counts };
  add(2, { type: 'item:recorded', ...of(4), from: 'in_progress', to: 'qa' });
  add(2, { type: 'qa:started', ...of(4), agent: 'shell', key: 'k' });
  add(3, { type: 'item:recorded', ...of(4), from: 'qa', to: 'in_progress', reason: 'not blue' });
  add(3, { ...dev(4), attempt: 2, maxAttempts: 4 } as Happening);
  expect(state.counts).toEqual(during);
  expect([...state.running.values()]).toMatchObject([{ role: 'dev', attempt: 2, maxAttempts: 4 }]);
});

test('X8 the limit has its last reason, in batches and in a stream', () => {
  const { state, add } = started();
  add(1, {
    type: 'batch:finished',
    task: 'draft',
    from: 2,
    to: 4,
    reason: 'all 2 done',
    done: 2,
    failed: 0,
    returned: 0,
  });
  expect([state.limit, state.limitReason]).toEqual([4, '2 -> 4: all 2 done']);
  add(2, { type: 'concurrency:changed', from: 4, to: 2, reason: '1 failed' });
  expect([state.limit, state.limitReason]).toEqual([2, '4 -> 2: 1 failed']);
});

test('X8 a stalled item is told from a slow one, and agents that are always silent do not look stalled', () => {
  const { state, add } = started();
  const at = (second: number) => START + second * 1000;
  for (const index of [4, 5]) add(0, dev(index));
  for (const index of [6, 7, 8]) {
    add(0, dev(index));
    add(10, devEnd(index, 10_000));
  }
  const [talking, silent] = [...state.running.values()];
  state.heard('draft', 'id4', at(60), { kind: 'output', text: 'one\ntwo \n' });
  expect(talking!.doing).toBe('two');
  expect([state.paceOf(talking!, at(50)), state.paceOf(silent!, at(50))]).toEqual(['usual', 'usual']);
  expect([state.paceOf(talking!, at(125)), state.paceOf(silent!, at(125))]).toEqual(['slow', 'stalled']);
  // 200 seconds of silence were followed by a sign of life: so long is not too long here.
  state.heard('draft', 'id4', at(260), { kind: 'output', text: 'three' });
  expect(state.paceOf(silent!, at(290))).toBe('slow');
  expect(state.paceOf(silent!, at(310))).toBe('stalled');
});

test('X8 a finish is estimated only when it can be, as a range that narrows', () => {
  const run = (ends: number) => ({
    startedAt: 0,
    ends: Array.from({ length: ends }, (_, i) => (i + 1) * 1000),
    remaining: 100,
  });
  expect(estimateFinish(run(4), 4000)).toBeUndefined();
  expect(estimateFinish({ ...run(30), remaining: 0 }, 30_000)).toBeUndefined();
  const early = estimateFinish(run(5), 5000)!;
  const late = estimateFinish(run(36), 36_000)!;
  expect(early.earliest).toBeLessThan(105_000);
  expect(early.latest).toBeGreaterThan(105_000);
  expect(late.earliest).toBeLessThan(136_000);
  expect(late.latest).toBeGreaterThan(136_000);
  expect(late.latest - late.earliest).toBeLessThan(early.latest - early.earliest);
  // Nothing ends any more: the late end moves away.
  expect(estimateFinish(run(36), 90_000)!.latest).toBeGreaterThan(late.latest + 54_000);
});
