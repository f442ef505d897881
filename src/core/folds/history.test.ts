import { expect, test } from 'vitest';
import type { Happening, NightshiftEvent } from '../model/events.ts';
import type { Status } from '../model/status.ts';
import { rest, sum } from '../model/usage.ts';
import { History } from './history.ts';
import { ItemDetails } from './item-details.ts';
import { workerOf } from './item-worker.ts';

const subject = { task: 'work', item: 'i1', index: 4 };
const dev = { ...subject, ms: 1, key: 'k' };
let seq = 0;

function historyOf(...happenings: Happening[]): History {
  const history = new History();
  for (const happening of happenings) {
    seq++;
    history.add({ ...happening, at: `t${seq}`, run: 'r', seq, shift: 's' } as NightshiftEvent);
  }
  return history;
}

const started: Happening = { type: 'dev:started', ...subject, agent: 'a', key: 'k', version: 'v' };
const failed: Happening = { type: 'dev:finished', ...dev, status: 'FAILED (step 1)', attempts: 3, reason: 'no ink' };
const succeeded: Happening = {
  type: 'dev:finished',
  ...dev,
  status: 'SUCCESS',
  attempts: 2,
  recommendations: ['Stir'],
};
const qa = (status: 'PASS' | 'FAIL' | 'NONE', reason?: string): Happening => ({
  ...{ type: 'qa:finished', ...subject, ms: 1, key: 'k', verdicts: [], status },
  ...(reason === undefined ? {} : { reason }),
});

test('M7 the latest run is known by what it spent, and by its end, which one that was killed has not', () => {
  const begin = { type: 'run:started' } as Happening;
  const spend = { type: 'usage:spent', ...subject, role: 'dev', agent: 'a', usage: { costUsd: 1 } } as Happening;
  const end = { type: 'run:finished', exitCode: 4, reason: 'no ink' } as Happening;
  const history = historyOf(begin, spend, end);
  expect(history.lastRun).toMatchObject({ number: 1, usage: { costUsd: 1 }, end: { exitCode: 4, reason: 'no ink' } });
  // By hand, between two runs.
  const add = (happening: Happening, run: string) =>
    history.add({ ...happening, at: 'later', run, seq: 1, shift: 's' } as NightshiftEvent);
  add(spend, 'by hand');
  expect(history.lastRun?.usage).toEqual({ costUsd: 1 });
  add(begin, 'second');
  expect(history.lastRun).toEqual({ run: 'second', number: 2, startedAt: 'later', lastAt: 'later', usage: {} });
  add({ ...begin, flags: ['--rows=1:2'] } as Happening, 'third');
  add({ type: 'run:finished', exitCode: 2, reason: 'no room', error: 'disk' } as Happening, 'third');
  expect(history.lastRun).toMatchObject({
    flags: ['--rows=1:2'],
    end: { exitCode: 2, reason: 'no room', error: 'disk' },
  });
});

test('X1 which model did it and which judged it is kept, where the program told', () => {
  const of = (...happenings: Happening[]) => historyOf(started, ...happenings).of('work', 'i1');
  const told = of({ ...succeeded, model: 'p/m' } as Happening, { ...qa('PASS'), model: 'q/n' } as Happening);
  expect([told?.dev?.model, told?.qa?.model]).toEqual(['p/m', 'q/n']);
  expect(of(succeeded)?.dev).not.toHaveProperty('model');
});

test('X8 on which worker an item is and was is known, also after the journal was rotated', () => {
  const on = (happening: Happening, worker: string) => ({ ...happening, worker }) as Happening;
  const judging: Happening = { type: 'qa:started', ...subject, agent: 'a', key: 'k' };
  const told = [on(started, 'b-1'), on(succeeded, 'b-1'), on(judging, 'b-2'), on(qa('PASS'), 'b-2')];
  const places = told.map((_, i) => {
    const item = historyOf(...told.slice(0, i + 1)).of('work', 'i1');
    return [item?.worker, item?.dev?.worker, item?.qa?.worker, workerOf(item)];
  });
  expect(places).toEqual([
    ['b-1', undefined, undefined, 'b-1'],
    [undefined, 'b-1', undefined, 'b-1'],
    ['b-2', 'b-1', undefined, 'b-2'],
    [undefined, 'b-1', 'b-2', 'b-2'],
  ]);
  const back: Happening = { type: 'item:returned', ...subject, reason: 'worker b-3 was lost' };
  const again = [...told, on(started, 'b-3')];
  expect(workerOf(historyOf(...again, back).of('work', 'i1'))).toBeUndefined();
  const restored = new History();
  for (const [i, line] of [...historyOf(...again).checkpoint({ at: '', run: '', shift: '' })].entries()) {
    restored.read(JSON.parse(JSON.stringify(line)), i === 0);
  }
  expect(workerOf(restored.of('work', 'i1'))).toBe('b-3');
  // On one machine, nothing is kept.
  expect(JSON.stringify(historyOf(started, succeeded, judging).of('work', 'i1'))).not.toContain('worker');
  const details = new ItemDetails();
  const attempt: Happening = { type: 'attempt:finished', ...subject, attempt: 1, status: 'SUCCESS' };
  const sent: Happening = { type: 'item:recorded', ...subject, from: 'qa', to: 'in_progress', reason: 'not blue' };
  for (const each of [on(started, 'b-1'), on(attempt, 'b-1'), sent, on({ ...attempt, attempt: 2 }, 'b-4')]) {
    details.add({ ...each, at: 't' } as NightshiftEvent);
  }
  expect(details.attempts.map(({ status, worker }) => [status, worker])).toEqual([
    ['FAILED (qa)', 'b-1'],
    ['SUCCESS', 'b-4'],
  ]);
});

test('D1 a failure is remembered until the item passes, also over a new start that was given back', () => {
  expect(historyOf(started, failed).of('work', 'i1')?.failure).toBe('no ink');
  const trouble: Happening = { type: 'dev:finished', ...dev, status: 'trouble', attempts: 1, reason: 'quota' };
  expect(historyOf(started, failed, started, trouble).of('work', 'i1')?.failure).toBe('no ink');
  expect(historyOf(started, failed, started, succeeded, qa('NONE')).of('work', 'i1')?.failure).toBe('no ink');
  expect(historyOf(started, failed, started, succeeded, qa('FAIL', 'dirty')).of('work', 'i1')?.failure).toBe('dirty');
  expect(historyOf(started, failed, started, succeeded, qa('PASS')).of('work', 'i1')?.failure).toBeUndefined();
});

test('T4 the verdict on an item that was withdrawn meanwhile is dropped', () => {
  const withdrawn: Happening = { type: 'item:withdrawn', ...subject, reason: 'somebody set it to failed' };
  expect(historyOf(started, succeeded, qa('PASS')).of('work', 'i1')?.qa?.status).toBe('PASS');
  expect(historyOf(started, succeeded, qa('PASS'), withdrawn).of('work', 'i1')?.qa).toBeUndefined();
});

test('T4 M7 who set an item in flight to failed is the reason of its failure', () => {
  const withdrawn = (to: Status): Happening => ({ type: 'item:withdrawn', ...subject, to, reason: `by hand: ${to}` });
  const failureOf = (...happenings: Happening[]) => historyOf(started, ...happenings).of('work', 'i1')?.failure;
  const aborted: Happening = { type: 'dev:finished', ...dev, status: 'aborted', attempts: 1, reason: 'stopped' };
  expect(failureOf(withdrawn('failed'), aborted)).toBe('by hand: failed');
  expect(failureOf(failed, started, withdrawn('failed'))).toBe('by hand: failed');
  expect(failureOf(withdrawn('todo'), aborted)).toBeUndefined();
  expect(failureOf(withdrawn('failed'), started, succeeded, qa('PASS'))).toBeUndefined();
  // As older versions wrote it.
  const older: Happening = { type: 'item:withdrawn', ...subject, reason: 'somebody set it to failed' };
  expect(failureOf(older, aborted)).toBe('somebody set it to failed');
});

test('D3 attempts are those of the last dev only', () => {
  const attempt = (number: number): Happening => ({
    type: 'attempt:finished',
    ...subject,
    attempt: number,
    status: 'x',
  });
  const item = historyOf(started, attempt(1), attempt(2), failed, started, attempt(1)).of('work', 'i1');
  expect(item?.attempts).toBe(1);
  expect(item?.dev).toBeUndefined();
});

test('D3 Q3 an attempt that a qa failed is one that failed, and the next one goes on counting', () => {
  const attempt = (number: number): Happening => ({
    type: 'attempt:finished',
    ...subject,
    attempt: number,
    status: 'SUCCESS',
  });
  const back: Happening = { type: 'item:recorded', ...subject, from: 'qa', to: 'in_progress', reason: 'not blue' };
  const again = { ...started, attempt: 2 } as Happening;
  const told = [started, attempt(1), succeeded, qa('FAIL', 'not blue'), back, again, attempt(2), succeeded];
  const item = historyOf(...told).of('work', 'i1');
  expect(item).toMatchObject({ attempts: 2, qaRetries: 1, failure: 'not blue' });
  expect(historyOf(...told, qa('PASS')).of('work', 'i1')).not.toHaveProperty('failure');
  expect(historyOf(...told, started).of('work', 'i1')).toMatchObject({ attempts: 0, qaRetries: 0 });
  const details = new ItemDetails();
  for (const happening of told) details.add({ ...happening, at: 't' } as NightshiftEvent);
  expect(details.attempts).toMatchObject([
    { number: 1, status: 'FAILED (qa)', reason: 'FAILED (qa): not blue' },
    { number: 2, status: 'SUCCESS' },
  ]);
});

const kept = (considered: string[], counted?: Record<string, number>): Happening => ({
  type: 'steps:kept',
  task: 'work',
  reason: '',
  recommendations: [],
  considered,
  ...(counted && { counted }),
});

test('P8 L1 recommendations wait until a fold settles them; those of a dev that failed afterwards are gone', () => {
  const told = { ...succeeded, agent: 'a', model: 'p/m' } as Happening;
  const origin = { item: 'i1', row: 5, attempts: 2, at: expect.any(String) };
  expect([...historyOf(started, told).unsettled('work').values()]).toEqual([
    [{ text: 'Stir', ...origin, agent: 'a', model: 'p/m' }],
  ]);
  // As older versions wrote it.
  expect([...historyOf(started, succeeded).unsettled('work').values()]).toEqual([[{ text: 'Stir', ...origin }]]);
  expect(historyOf(started, succeeded, started, failed).unsettled('work').size).toBe(0);
  expect(historyOf(started, succeeded, kept([])).unsettled('work').size).toBe(1);
  expect(historyOf(started, succeeded, kept(['i1'])).unsettled('work').size).toBe(0);
  expect(historyOf(started, succeeded).unsettled('other').size).toBe(0);
});

test('P8 L2 votes of devs and qas wait until they are counted, also those of an item that failed', () => {
  const vote = { lesson: 'L1', effect: 'harmed' as const, reason: 'no ink' };
  const attempt: Happening = { type: 'attempt:finished', ...subject, attempt: 1, status: 'FAILED', votes: [vote] };
  const judged = { ...qa('FAIL', 'dirty'), votes: [{ ...vote, lesson: 'L2' }] } as Happening;
  const votes = historyOf(started, attempt, failed, judged).votes('work');
  const origin = { item: 'i1', row: 5, at: expect.any(String) };
  expect(votes).toEqual([
    { ...vote, ...origin },
    { ...vote, lesson: 'L2', ...origin },
  ]);
  expect(historyOf(attempt, kept(['i1'])).votes('work')).toHaveLength(1);
  expect(historyOf(attempt, kept([], { i1: 1 })).votes('work')).toEqual([]);
  // One that came while the fold was written waits for the next.
  expect(historyOf(attempt, judged, kept([], { i1: 1 })).votes('work')).toMatchObject([{ lesson: 'L2' }]);
  // As older versions wrote it.
  const older = { ...kept([]), counted: ['i1'] } as unknown as Happening;
  expect(historyOf(attempt, judged, older).votes('work')).toEqual([]);
});

test('L4 the state of a lesson is the one that its last event told', () => {
  const changed = (to: 'waiting' | 'firm'): Happening => ({
    type: 'lesson:changed',
    task: 'work',
    id: 'L1',
    text: '',
    to,
  });
  const history = historyOf(changed('waiting'), changed('firm'));
  expect([history.lessonState('L1'), history.lessonState('L2')]).toEqual(['firm', undefined]);
});

test('Q4 agents that end without a status are counted in a row: until one is written, or the item is reset', () => {
  const silent: Happening = { type: 'item:returned', ...subject, reason: 'no status', isSilent: true };
  const returned: Happening = { type: 'item:returned', ...subject, reason: 'rate limit' };
  const written: Happening = { type: 'item:recorded', ...subject, from: 'in_progress', to: 'qa' };
  const edited = (column: string): Happening => ({
    type: 'table:edited',
    by: 'reset',
    changes: [{ item: 'i1', column, from: 'qa', to: 'todo' }],
  });
  const count = (...happenings: Happening[]) => historyOf(...happenings).of('work', 'i1')?.silent;
  expect(count(started, silent, returned, started, silent)).toBe(2);
  expect(count(silent, silent, written, silent)).toBe(1);
  expect(count(silent, edited('other'))).toBe(1);
  expect(count(silent, edited('work'))).toBeUndefined();
});

test('M7 every edit by a person counts, also after another one: they have no number', () => {
  const history = new History();
  const edit = { type: 'table:edited', at: 't', run: '', seq: 0, shift: 's', by: 'process 1' };
  const reset = (item: string) => [{ item, column: 'work', from: 'failed', to: 'todo' }];
  history.read({ ...edit, changes: reset('i1') }, true);
  history.read({ ...edit, changes: reset('i2'), retry: ['--rows=2'] }, false);
  expect(history.retrying?.items.get('i2')).toBe('work');
});

test('unknown usage stays unknown', () => {
  expect(sum({}, {})).toEqual({});
  expect(sum({ inputTokens: 1 }, { inputTokens: 2, costUsd: 0 })).toEqual({ inputTokens: 3, costUsd: 0 });
  expect(sum({ costUsd: 1 }, undefined)).toEqual({ costUsd: 1 });
  expect(sum({ costUsd: 1 }, { inputTokens: 2, outputTokens: 3 })).toEqual({
    costUsd: 1,
    inputTokens: 2,
    outputTokens: 3,
    unpricedTokens: 5,
  });
  expect(rest({ inputTokens: 5, costUsd: 2 }, { inputTokens: 5, costUsd: 1.5 })).toEqual({ costUsd: 0.5 });
  expect(rest({ inputTokens: 5 }, { inputTokens: 5 })).toBeUndefined();
});

test('P8 X6 what a checkpoint restores is what was folded, whatever was said, and is bounded by items', () => {
  const long = 'x'.repeat(1_000_000);
  const history = new History();
  const say = (happening: Happening, run = 'r1') =>
    history.add({ ...happening, at: '2026-01-01T00:00:00Z', run, seq: 1, elapsed: 5, shift: 's' } as NightshiftEvent);
  for (const each of [
    { type: 'run:started', flags: ['--max-cost=1'], limits: { 'max-cost': 1 } } as unknown as Happening,
    started,
    { type: 'usage:spent', ...subject, role: 'dev', agent: 'a', usage: { costUsd: 0.1, inputTokens: 3 } } as Happening,
    { type: 'attempt:finished', ...subject, attempt: 1, status: 'FAILED', reason: long } as Happening,
    { ...failed, reason: long, failurePoint: 'step 1' } as Happening,
    { type: 'item:recorded', ...subject, from: 'in_progress', to: 'failed', reason: long } as Happening,
    { ...succeeded, item: 'i2', captured: { ['__proto__']: long } } as Happening,
    {
      ...{ type: 'attempt:finished', ...subject, attempt: 2, status: 'FAILED' },
      votes: [{ lesson: 'L1', effect: 'harmed', reason: long }],
    } as Happening,
    { type: 'lesson:changed', task: 'work', id: 'L1', text: long, to: 'firm' } as Happening,
    {
      type: 'steps:changed',
      task: 'work',
      from: 'a',
      to: 'b',
      summary: long,
      lessons: [],
      batch: 1,
      considered: [],
    } as Happening,
    { type: 'run:finished', exitCode: 4, reason: long, ms: 7 } as unknown as Happening,
  ]) {
    say(each);
  }
  const stamp = { at: '', run: '', shift: '' };
  const text = [...history.checkpoint(stamp)].map((line) => JSON.stringify(line)).join('\n');
  expect(text.length).toBeLessThan(30_000);
  const restored = new History();
  for (const [i, line] of text.split('\n').entries()) restored.read(JSON.parse(line), i === 0);
  expect([...restored.checkpoint(stamp)].map((line) => JSON.stringify(line)).join('\n')).toBe(text);
  expect(restored.of('work', 'i1')).toEqual(history.of('work', 'i1'));
  expect(restored.of('work', 'i1')?.failure).toHaveLength(2000);
  expect(restored.unsettled('work')).toEqual(history.unsettled('work'));
  expect(restored.votes('work')).toEqual(history.votes('work'));
  expect([restored.votes('work').length, restored.lessonState('L1')]).toEqual([1, 'firm']);
  expect(restored.lastRun).toEqual(history.lastRun);
  expect(restored.tally.ms).toBe(history.tally.ms);
  expect(restored.tally.streakOf('work')).toEqual({ failurePoint: 'step 1', failures: 1 });
});

test('X6 what is spent after a checkpoint that somebody cut short counts', () => {
  const spent = { type: 'usage:spent', at: '', seq: 1, shift: 's', role: 'dev', agent: 'a' };
  const before = new History();
  before.add({ ...spent, run: 'r1', usage: { costUsd: 1 } } as NightshiftEvent);
  const [first] = before.checkpoint({ at: '', run: 'r1', shift: 's' });
  const restored = new History();
  restored.read(first, true);
  // One that is counted in it already, and one of a later run.
  restored.read({ ...spent, run: 'r1', usage: { costUsd: 1 } }, false);
  restored.read({ ...spent, run: 'r2', usage: { costUsd: 0.5 } }, false);
  expect(restored.usage).toEqual({ costUsd: 1.5 });
});

test('X6 what stands in the journal twice is spent once', () => {
  const spent = { type: 'usage:spent', at: '', shift: 's', role: 'dev', agent: 'a', usage: { costUsd: 1 } };
  const lines = [1, 2].flatMap((seq) => ['r1', 'r2'].map((run) => ({ ...spent, run, seq })));
  const history = new History();
  for (const line of [...lines, ...lines, { ...spent, run: 'r1', seq: 3 }, spent, spent]) history.read(line, false);
  // Without a number nobody can tell.
  expect(history.usage).toEqual({ costUsd: 7 });
});

test('M7 the last run keeps what it covered, without the items of a retry; older journals have only flags', () => {
  const begun = {
    ...{ type: 'run:started', total: 2, tasks: [], parallel: false, stream: false, agent: 'shell', pid: 1 },
    ...{ recovered: 0, waiting: 0, counts: [], hasModel: false, limits: {}, flags: ['--rows=3,7'] },
    spent: { usage: {}, ms: 0, failures: 0 },
  } as const;
  const lastRun = (more: object) => historyOf({ ...begun, ...more } as unknown as Happening).lastRun;
  const covered = lastRun({ selection: { rows: '3,7', items: { i1: 'work' } } });
  expect(covered).toMatchObject({ selection: { rows: '3,7' }, flags: ['--rows=3,7'] });
  expect(covered?.selection).not.toHaveProperty('items');
  expect(lastRun({})).toMatchObject({ flags: ['--rows=3,7'] });
  for (const wrong of [undefined, { rows: 3 }, { items: { i1: 'work' } }]) {
    expect(lastRun({ selection: wrong })).not.toHaveProperty('selection');
  }
});
