import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { Agent, Answer } from '../../agents/agent.ts';
import type { Order } from '../../core/model/model.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import { LocalWorker } from './worker.ts';
import type { Call, Site } from './worker-ports.ts';

const order: Order = {
  role: 'dev',
  shift: { name: 's' },
  ...{ task: 'work', version: 'v', item: { id: 'i', index: 0, metadata: {} }, token: 't', key: 'k' },
  settings: {
    ...{ agent: 'any', tools: [], qa: 'auto', qaParallel: false, attempts: 3, qaRetries: 0, retryDelayMs: 1000 },
    ...{ timeoutMs: 60_000, checkTimeoutMs: 60_000, outputs: [], passEnv: [], protect: [] },
  },
  template: { workingDir: { segments: ['.'] }, document: [], steps: [], criteria: [{ line: 1, text: ['It is blue'] }] },
  secretNames: [],
};

const FAILED = { kind: 'report', report: { overall_status: 'FAILED (step 1)', error: 'no' } } as const;
const SUCCESS = { kind: 'report', report: { overall_status: 'SUCCESS' } } as const;

/** Carries out the order with an agent that gives these answers; `onAnswer` comes before each of them. */
async function work(answers: Answer[], onAnswer: (call: Controllers) => void, more: Partial<Site> = {}) {
  const controllers = { stop: new AbortController(), drain: new AbortController(), spent: new AbortController() };
  let asked = 0;
  const agent = {
    name: 'any',
    hasEnvironment: true,
    credentials: [],
    open: async () => ({
      remembers: true,
      async ask() {
        onAnswer(controllers);
        return answers[asked++]!;
      },
      async [Symbol.asyncDispose]() {},
    }),
  } as unknown as Agent;
  const site: Site = {
    place: { root: tmpdir(), folder: '/s', table: '/s/table.csv' },
    agents: { find: () => agent, caller: {} },
    check: async () => ({ kind: 'passed' }),
    folders: { enter: () => ({ [Symbol.dispose]() {} }), watch: () => Promise.reject(new Error('nothing is judged')) },
    protection: NO_PROTECTION,
    clock: {
      now: () => 0,
      elapsed: () => 0,
      // Time passes at once, unless somebody is told to end.
      sleep: async (_, signal) => signal?.aborted !== true,
      timeout: () => ({ signal: new AbortController().signal, [Symbol.dispose]() {} }),
    },
    random: () => 0,
    ...more,
  };
  const { stop, drain, spent } = controllers;
  const call: Call = { emit: () => {}, signal: stop.signal, drain: drain.signal, spent: spent.signal };
  return { outcome: await new LocalWorker({ ...site, secrets: {} }).run(order, call), asked: () => asked };
}

type Controllers = Record<'stop' | 'drain' | 'spent', AbortController>;

test('X6 a dev whose run drains does not wait for its next attempt: its item is given back', async () => {
  const { outcome, asked } = await work([FAILED, SUCCESS], ({ drain }) => drain.abort());
  expect(outcome).toMatchObject({ reason: 'stopped', attempts: 1 });
  expect([outcome.to, asked()]).toEqual([undefined, 1]);
});

test('X6 when cost is used up nothing more is asked: the item is given back, and its trouble says why', async () => {
  const { outcome, asked } = await work([FAILED, SUCCESS], ({ spent }) => spent.abort('max-cost is used up'));
  expect(outcome.trouble).toEqual({ reason: 'max-cost is used up', isLimit: true });
  expect([outcome.to, asked()]).toEqual([undefined, 1]);
});

test('D5 an attempt that edited a file of the shift fails at once, and the next one is not blamed for it', async () => {
  const found = ['it edited table.csv'];
  const shiftFiles = { trespassOf: async () => found.shift(), confirm: async () => {} };
  const { outcome, asked } = await work([SUCCESS, SUCCESS], () => {}, { shiftFiles });
  expect([outcome.to, outcome.attempts, asked()]).toEqual(['qa', 2, 2]);
  found.push('1', '2', '3');
  const trespasser = await work([SUCCESS, SUCCESS, SUCCESS], () => {}, { shiftFiles });
  expect(trespasser.outcome).toMatchObject({ to: 'failed', failurePoint: 'trespass', attempts: 3 });
});
