import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { Agent, Answer, Question } from '../../agents/agent.ts';
import type { LessonOrder } from '../../core/model/lesson-order.ts';
import type { Order } from '../../core/model/model.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import { LocalWorker } from './worker.ts';
import type { Call, EquippedSite } from './worker-ports.ts';

const order: Order = {
  role: 'dev',
  shift: { name: 's' },
  ...{ task: 'work', version: 'v', item: { id: 'i', index: 0, metadata: {} }, token: 't', key: 'k' },
  settings: {
    ...{ agent: 'any', tools: [], qa: 'auto', qaParallel: false, attempts: 3, qaRetries: 0, retryDelayMs: 1000 },
    ...{ timeoutMs: 60_000, checkTimeoutMs: 60_000, outputs: [], passEnv: [], protect: [] },
    ...{ changeLimits: { allow: [], deny: [] }, sandbox: 'off' as const },
  },
  template: { workingDir: { segments: ['.'] }, document: [], steps: [], criteria: [{ line: 1, text: ['It is blue'] }] },
  secretNames: [],
};

const FAILED = { kind: 'report', report: { overall_status: 'FAILED (step 1)', error: 'no' } } as const;
const SUCCESS = { kind: 'report', report: { overall_status: 'SUCCESS' } } as const;

/** A worker whose agent gives these answers, and what its agent was asked; `onAnswer` comes before each answer. */
function workerWith(answers: Answer[], onAnswer: () => void = () => {}, more: Partial<EquippedSite> = {}) {
  const asked: Question[] = [];
  const agent = {
    name: 'any',
    hasEnvironment: true,
    credentials: [],
    open: async () => ({
      remembers: true,
      async ask(question: Question) {
        onAnswer();
        asked.push(question);
        return answers[asked.length - 1]!;
      },
      async [Symbol.asyncDispose]() {},
    }),
  } as unknown as Agent;
  const site: EquippedSite = {
    place: { root: tmpdir(), folder: '/s', table: '/s/table.csv' },
    agents: { find: () => agent, caller: {} },
    check: async () => ({ kind: 'passed' }),
    folders: { enter: () => ({ [Symbol.dispose]() {} }), watch: () => Promise.reject(new Error('nothing is judged')) },
    protection: NO_PROTECTION,
    clock: {
      now: () => 0,
      elapsed: () => 0,
      // Time passes at once, unless the run is to end.
      sleep: async (_, signal) => signal?.aborted !== true,
      timeout: () => ({ signal: new AbortController().signal, [Symbol.dispose]() {} }),
    },
    random: () => 0,
    secrets: {},
    ...more,
  };
  return { worker: new LocalWorker(site), asked };
}

function callWith({ stop, drain, spent }: Controllers, emit: Call['emit'] = () => {}): Call {
  return { emit, signal: stop.signal, drain: drain.signal, spent: spent.signal };
}

function newControllers(): Controllers {
  return { stop: new AbortController(), drain: new AbortController(), spent: new AbortController() };
}

/** Carries out the order of a dev; `onAnswer` comes before each answer. */
async function work(answers: Answer[], onAnswer: (call: Controllers) => void, more: Partial<EquippedSite> = {}) {
  const controllers = newControllers();
  const { worker, asked } = workerWith(answers, () => onAnswer(controllers), more);
  return { outcome: await worker.run(order, callWith(controllers)), asked: () => asked.length };
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

const lessonOrder: LessonOrder = {
  ...{ role: 'manager', shift: { name: 's' }, task: 'work', version: 'v' },
  settings: { ...order.settings, tools: [] },
  steps: ['Paint {name}'],
  lessons: [],
  recommendations: [{ text: 'Look twice', row: 1 }],
};

/** Carries out the order of a lesson; the shift has a secret. */
async function learn(answers: Answer[], before: (call: Controllers) => void = () => {}) {
  const controllers = newControllers();
  before(controllers);
  const { worker, asked } = workerWith(answers, () => {}, { secrets: { API_KEY: 'p4ssw0rd' } });
  const events: object[] = [];
  const outcome = await worker.learn(
    lessonOrder,
    callWith(controllers, (event) => events.push(event)),
  );
  return { outcome, asked, events };
}

const LESSON = { text: 'Look twice', from: [1], same_as: null, after: 1 };

test('L2 the question about lessons is an order: the form of its answer is checked, and its cost counts', async () => {
  const report = { lessons: [LESSON], summary: 'as p4ssw0rd says' };
  const { outcome, asked, events } = await learn([{ kind: 'report', report, usage: { costUsd: 2 } }]);
  expect(outcome).toEqual({ role: 'manager', proposal: { lessons: [LESSON], summary: expect.any(String) } });
  expect(JSON.stringify(outcome)).not.toContain('p4ssw0rd');
  expect(asked[0]!.prompt).toMatch(/1\. Paint \{name\}.*"Look twice"/s);
  expect(asked[0]!.environment).toMatchObject({ NIGHTSHIFT_ROLE: 'manager', NIGHTSHIFT_TASK: 'work' });
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'usage:spent', role: 'manager', task: 'work', usage: { costUsd: 2 } }),
  );
});

test.each<[string, Answer[], string]>([
  ['no list', Array(2).fill({ kind: 'report', report: { lessons: 'all' } }), 'lessons is not a list'],
  ['trouble', [{ kind: 'trouble', trouble: { reason: 'p4ssw0rd is refused' } }], '[API_KEY] is refused'],
  ['a stop', [{ kind: 'aborted' }], 'it was stopped'],
])('L6 an answer about lessons that is %s gives a reason and no proposal', async (_, answers, reason) => {
  expect((await learn(answers)).outcome).toEqual({ role: 'manager', reason });
});

test('X6 when cost is used up, the agent is not asked for lessons either', async () => {
  const { outcome, asked } = await learn([], ({ spent }) => spent.abort('max-cost is used up'));
  expect([outcome, asked]).toEqual([{ role: 'manager', reason: 'max-cost is used up' }, []]);
});
