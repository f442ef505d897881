import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type AgentRequest,
  type CustomAgent,
  createShift,
  type NightshiftEvent,
  openShift,
  type Shift,
} from '../src/index.ts';
import { Project } from './harness.ts';

const TASK = { text: '## Configuration\n- attempts: 1\n## Steps\n1. Greet {city}.\n## Validation\n- It is polite.\n' };
const PASS = { report: { overall_status: 'PASS', criteria: [{ criterion: '1', status: 'PASS' }] } };
const SUCCESS = { report: { overall_status: 'SUCCESS' } };

/** Does and judges whatever it is asked; `dev` may do something else instead. */
function agentWith(dev: (request: AgentRequest) => ReturnType<CustomAgent['ask']> = async () => SUCCESS): CustomAgent {
  return { name: 'mine', hasModel: false, ask: async (request) => (request.role === 'dev' ? dev(request) : PASS) };
}

async function newShift(cities = ['Rome', 'Oslo', 'Lima']): Promise<Shift> {
  const { root } = new Project();
  const shift = await createShift(root, 'cities', { items: cities.map((city) => ({ city })), agent: 'mine' });
  await shift.addTask('greet', TASK);
  return shift;
}

async function statusesOf(shift: Shift): Promise<string[]> {
  return (await shift.items()).map(({ statuses }) => statuses.greet!);
}

describe('the public API', () => {
  test('a run of a part tells all its events in order, and its result', async () => {
    const shift = await newShift();
    const asked: AgentRequest[] = [];
    const agent = agentWith(async (request) => {
      asked.push(request);
      return { ...SUCCESS, usage: { costUsd: 0.25 }, model: 'small' };
    });
    const run = shift.run({ agents: [agent], where: { city: 'Oslo' }, limits: { maxCost: 5 } });
    const events: NightshiftEvent[] = [];
    for await (const event of run) events.push(event);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]).toMatchObject({ type: 'run:started', limits: { 'max-cost': 5 }, agent: 'mine' });
    expect(events.at(-1)).toMatchObject({ type: 'run:finished', exitCode: 0 });
    const { exitCode, counts, reason } = await run.result;
    expect({ exitCode, counts, reason }).toEqual({
      exitCode: 0,
      counts: { total: 3, completed: 1, failed: 0, remaining: 2 },
      reason: 'finished',
    });
    expect(asked).toMatchObject([{ role: 'dev', work: { task: 'greet', row: 2, attempt: 1, item: { city: 'Oslo' } } }]);
    expect(asked[0]!.prompt).toContain('Greet Oslo.');
    expect((await shift.status()).usage.costUsd).toBe(0.25);
    expect(await statusesOf(await openShift(shift.folder))).toEqual(['todo', 'done', 'todo']);
  });

  test('L12 lessons can be read, of all tasks or of one', async () => {
    const shift = await newShift();
    const report = { ...SUCCESS.report, recommendations: ['Bow first'] };
    expect((await shift.run({ agents: [agentWith(async () => ({ report }))], rows: '1:2' }).result).exitCode).toBe(0);
    const { mode, lessons } = await shift.lessons();
    expect([mode, lessons]).toMatchObject(['careful', [{ id: 'L1', state: 'firm', text: 'Bow first', task: 'greet' }]]);
    expect((await shift.lessons('greet')).lessons).toEqual(lessons);
    await expect(shift.lessons('gret')).rejects.toMatchObject({ code: 'not-found' });
  });

  test('a reader that is slow gets everything, one that stops early stops nothing, and none is needed', async () => {
    const shift = await newShift();
    const run = shift.run({ agents: [agentWith()], rows: '1:2' });
    for await (const event of run) if (event.type === 'run:started') break;
    expect((await run.result).exitCode).toBe(0);
    expect((await shift.run({ agents: [agentWith()], rows: '3' }).result).exitCode).toBe(0);
    const slow: string[] = [];
    await shift.reset({ rows: '1:3' });
    for await (const { type } of shift.run({ agents: [agentWith()] })) {
      slow.push(type);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(slow.filter((type) => type === 'qa:finished').length).toBe(3);
    expect(slow.at(-1)).toBe('run:finished');
  });

  test('wrong input rejects the result and ends the iteration, and is no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    const shift = await newShift();
    const run = shift.run({ task: 'greeet', agents: [agentWith()] });
    await expect(readAll(run)).rejects.toMatchObject({ code: 'not-found', hint: 'did you mean greet?' });
    await expect(run.result).rejects.toMatchObject({ code: 'not-found' });
    await expect(shift.run().result).rejects.toMatchObject({ code: 'bad-task', message: /no agent "mine"/ });
    await expect(shift.run({ limits: { maxCost: -5 } }).result).rejects.toThrow('limits.maxCost "-5" is not an amount');
    await expect(shift.run({ agents: [{ ...agentWith(), name: 'shell' }] }).result).rejects.toThrow('already an agent');
    shift.run({ rows: 'x' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
    expect(await statusesOf(shift)).toEqual(['todo', 'todo', 'todo']);
  });

  test('signals of the process stay those of the caller; an AbortSignal ends the run, and the items go back', async () => {
    const shift = await newShift();
    const abort = new AbortController();
    const listeners = () => ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
    const before = listeners();
    let during: number[] = [];
    // It ignores its own signal.
    const agent = agentWith(() => {
      during = listeners();
      setImmediate(() => abort.abort());
      return new Promise(() => {});
    });
    const run = shift.run({ agents: [agent], signal: abort.signal });
    const types = (await readAll(run)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['run:draining', 'run:stopping', 'item:returned']));
    expect((await run.result).exitCode).toBe(130);
    expect(during).toEqual(before);
    expect(await statusesOf(shift)).toEqual(['todo', 'todo', 'todo']);
  });

  test('stop lets the running item finish; a second run meanwhile is refused; the next one resumes', async () => {
    const shift = await newShift();
    const second: Promise<unknown>[] = [];
    const run = shift.run({
      agents: [
        agentWith(async () => {
          second.push(shift.run({ agents: [agentWith()] }).result.catch((error: unknown) => error));
          await second[0];
          run.stop();
          return SUCCESS;
        }),
      ],
    });
    expect(await run.result).toMatchObject({ exitCode: 130, counts: { completed: 1 } });
    expect(await Promise.all(second)).toMatchObject([{ code: 'already-running' }]);
    expect(await shift.run({ agents: [agentWith()] }).result).toMatchObject({ exitCode: 0, counts: { completed: 3 } });
  });

  test('another handle follows a run, pauses, resumes and stops it; without a run there is nothing to do', async () => {
    const shift = await newShift();
    const other = await openShift(shift.folder);
    expect(await readAll(other.follow())).toEqual([]);
    const mayEnd = new AbortController();
    // The first row ends when it may, the others never.
    const agent = agentWith(async ({ work, signal }) => {
      await once(work?.row === 1 ? mayEnd.signal : signal, 'abort');
      return SUCCESS;
    });
    const run = shift.run({ agents: [agent] });
    for await (const { type } of run) if (type === 'dev:started') break;
    const followed = readAll(other.follow());
    expect(await other.pause()).toBe(true);
    mayEnd.abort();
    for await (const { type } of run) if (type === 'item:recorded') break;
    expect((await other.status()).running?.pid).toBe(process.pid);
    expect(await other.resume()).toBe(true);
    expect(await other.stop({ now: true })).toBe(true);
    expect(await run.result).toMatchObject({ exitCode: 130, counts: { completed: 1 } });
    const types = (await followed).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['run:started', 'run:paused', 'run:resumed', 'run:finished']));
    expect([await other.pause(), await other.resume(), await other.stop()]).toEqual([false, false, false]);
  });

  test('what an agent of the caller throws, or returns without a report, fails the attempt; retry runs only failures', async () => {
    const shift = await newShift();
    const agent = agentWith(async ({ work }) => {
      if (work?.row === 1) throw new Error('no network');
      if (work?.row === 2) return { failed: 'too hard' };
      return {} as never;
    });
    expect(await shift.run({ agents: [agent] }).result).toMatchObject({ exitCode: 3, counts: { failed: 3 } });
    const { failures } = await shift.status();
    expect(failures.map(({ reason }) => reason).sort()).toEqual([
      'the agent mine threw an error: no network',
      'the reply of the agent mine has no report',
      'too hard',
    ]);
    const again: number[] = [];
    const better = agentWith(async ({ work }) => {
      again.push(work!.row);
      return work?.row === 3 ? { failed: 'too hard' } : SUCCESS;
    });
    await expect(shift.retry({ agents: [better], reason: 'no such' }).result).rejects.toThrow('no failure');
    const limits = { until: new Date(0) };
    expect(await shift.retry({ agents: [better], limits }).result).toMatchObject({ exitCode: 4, reason: /until/ });
    expect(again).toEqual([]);
    const run = shift.retry({ agents: [better], reason: 'NETWORK' });
    expect((await readAll(run))[0]).toMatchObject({ type: 'run:started', command: 'retry' });
    expect([(await run.result).counts?.completed, again]).toEqual([1, [1]]);
    expect(await shift.reset({ rows: '2' })).toEqual({ reset: 1, tasks: { greet: 1 } });
    expect(await statusesOf(shift)).toEqual(['done', 'todo', 'failed']);
    expect((await shift.retry({ agents: [better] }).result).counts).toMatchObject({ completed: 1, failed: 1 });
    expect(again).toEqual([1, 3]);
    await shift.reset();
    expect((await shift.retry({ agents: [better] }).result).reason).toBe('nothing has failed');
    expect(existsSync(`${shift.folder}/.engine/journal.jsonl`)).toBe(true);
  });
  test('D5 a program that an agent of a run has started may look, and change nothing', async () => {
    const shift = await newShift();
    vi.stubEnv('NIGHTSHIFT_ROLE', 'dev');
    vi.stubEnv('NIGHTSHIFT_KEY', 'a-key');
    onTestFinished(() => void vi.unstubAllEnvs());
    const refused = { code: 'inside-agent' };
    await expect(shift.run({ agents: [agentWith()] }).result).rejects.toMatchObject(refused);
    await expect(shift.reset({ rows: '1' })).rejects.toMatchObject(refused);
    await expect(shift.addTask('more', TASK)).rejects.toMatchObject(refused);
    await expect(shift.stop()).rejects.toMatchObject(refused);
    await expect(shift.pause()).rejects.toMatchObject(refused);
    await expect(shift.resume()).rejects.toMatchObject(refused);
    await expect(createShift(shift.folder, 'other')).rejects.toMatchObject(refused);
    expect((await shift.status()).counts.remaining).toBe(3);
    expect((await shift.item(2)).metadata).toEqual({ city: 'Oslo' });
  });
});

async function readAll<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}
