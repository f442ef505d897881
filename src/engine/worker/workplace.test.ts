import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { Agent, Opening } from '../../agents/agent.ts';
import type { Clock } from '../../core/model/clock.ts';
import type { Order, Settings } from '../../core/model/model.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import { takeScratch } from './scratch.ts';
import { LocalWorker } from './worker.ts';
import type { EquippedSite } from './worker-ports.ts';
import { KeptWorkplaces, Workplace } from './workplace.ts';

const MINUTE = 60_000;
const settings: Settings = {
  ...{ agent: 'any', tools: [], qa: 'auto' as const, qaParallel: false, attempts: 3, qaRetries: 1, retryDelayMs: 0 },
  ...{ timeoutMs: MINUTE, checkTimeoutMs: MINUTE, outputs: [], passEnv: [], protect: [] },
  ...{ changeLimits: { allow: [], deny: [] }, sandbox: 'off' as const },
};
const order: Order = {
  role: 'dev',
  shift: { name: 's' },
  ...{ task: 'work', version: 'v', item: { id: 'i', index: 0, metadata: {} }, token: 't', key: 'k' },
  ...{ settings, secretNames: [] },
  template: { workingDir: { segments: ['.'] }, document: [], steps: [], criteria: [{ line: 1, text: ['It is blue'] }] },
};
const CHECK = { parts: ['true'], line: 1, files: { run: [], written: [] } };
const again: Order = { ...order, retry: { attempts: 1, ms: 0, qaRetries: 1, verdict: '- It is blue\n  it is red' } };

/** An agent whose sessions remember, and what is asked of each. */
function remembering() {
  const sessions: { prompts: string[]; opening: Opening; isOver: boolean }[] = [];
  const agent = {
    name: 'any',
    hasEnvironment: true,
    credentials: [],
    async open(opening: Opening) {
      const session = { prompts: [] as string[], opening, isOver: false };
      sessions.push(session);
      return {
        remembers: true,
        async ask({ prompt }: { prompt: string }) {
          session.prompts.push(prompt);
          const usage = { costUsd: 1 };
          return { kind: 'report' as const, report: { overall_status: 'SUCCESS' }, usage };
        },
        async [Symbol.asyncDispose]() {
          session.isOver = true;
        },
      };
    },
  } as unknown as Agent;
  return { agent, sessions };
}

const CLOCK: Clock = {
  now: () => 0,
  elapsed: () => 0,
  sleep: async () => true,
  timeout: () => ({ signal: new AbortController().signal, [Symbol.dispose]() {} }),
};

/** Has a worker with this agent carry out an order. */
async function work(todo: Order, { agent }: { agent: Agent }, kept?: KeptWorkplaces, clock = CLOCK) {
  const site: EquippedSite = {
    place: { root: tmpdir(), folder: '/s', table: '/s/table.csv' },
    agents: { find: () => agent, caller: {} },
    check: async () => ({ kind: 'passed' }),
    folders: { enter: () => ({ [Symbol.dispose]() {} }), watch: () => Promise.reject(new Error('nothing is judged')) },
    protection: NO_PROTECTION,
    clock,
    random: () => 0,
    secrets: {},
    ...(kept ? { kept } : {}),
  };
  const { signal } = new AbortController();
  return new LocalWorker(site).run(todo, { emit: () => {}, signal, drain: signal, spent: signal });
}

test('D3 Q3 what a qa sends back goes on in the session of its dev, and only then is that over', async () => {
  const any = remembering();
  await using kept = new KeptWorkplaces();
  expect(await work(order, any, kept)).toMatchObject({ to: 'qa', attempts: 1 });
  expect(any.sessions).toMatchObject([{ isOver: false }]);
  const outcome = await work(again, any, kept);
  // What it costs is counted once.
  expect(outcome).toMatchObject({ to: 'qa', attempts: 2, usage: { costUsd: 1 } });
  expect(any.sessions).toMatchObject([{ isOver: true, prompts: [expect.any(String), expect.any(String)] }]);
  expect(any.sessions[0]!.prompts[1]).toContain('> - It is blue\n>   it is red');
  expect(any.sessions[0]!.prompts[1]).not.toContain('You are the dev of Nightshift');
});

test('D3 Q3 where the session is not kept, a fresh one is told what failed', async () => {
  const any = remembering();
  await work(order, any);
  await work(again, any);
  expect(any.sessions).toMatchObject([{ isOver: true }, { isOver: true }]);
  expect(any.sessions[1]!.prompts[0]).toContain('You are the dev of Nightshift');
  expect(any.sessions[1]!.prompts[0]).toMatch(/This is attempt 2[\s\S]*independent qa[\s\S]*it is red/);
});

test('Q3 no session waits for a verdict that can send nothing back', async () => {
  await using kept = new KeptWorkplaces();
  for (const final of [
    { ...order, settings: { ...settings, qaRetries: 0 } },
    { ...order, settings: { ...settings, attempts: 1 } },
    { ...order, template: { ...order.template, criteria: [{ line: 1, text: ['It is blue'], check: CHECK }] } },
  ]) {
    const any = remembering();
    await work(final, any, kept);
    expect(any.sessions).toMatchObject([{ isOver: true }]);
  }
});

test('X1 Q3 the time of a dev stands still while its item is judged: it gets what is left', async () => {
  const given: number[] = [];
  const clock = {
    ...CLOCK,
    timeout: (milliseconds: number) => {
      given.push(milliseconds);
      return CLOCK.timeout(milliseconds);
    },
  };
  const any = remembering();
  await work(order, any, undefined, clock);
  await work({ ...again, retry: { ...again.retry!, ms: 59_000 } }, any, undefined, clock);
  expect(given).toEqual([60_000, 1000]);
});

test('T4 Q3 who goes on is ended by what ends its new order, and no more by the one before', () => {
  const place = new Workplace(takeScratch() as never);
  const [before, now, late] = [new AbortController(), new AbortController(), new AbortController()];
  place.hold(before.signal, before.signal)[Symbol.dispose]();
  before.abort();
  expect(place.signal.aborted).toBe(false);
  using _held = place.hold(now.signal, late.signal);
  late.abort();
  expect([place.signal.aborted, place.timeout.aborted]).toEqual([true, true]);
});
