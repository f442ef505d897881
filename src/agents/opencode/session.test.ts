import { getEventListeners } from 'node:events';
import { createOpencodeClient, type OpencodeClient } from '@opencode-ai/sdk/v2/client';
import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { Opening, Question } from '../agent.ts';
import { Door } from './door.ts';
import type { ServerEvent } from './events.ts';
import { Folders } from './folders.ts';
import type { Hearer, OpencodeServer } from './server.ts';
import { OpencodeSession } from './session.ts';

/** Nobody listens there. */
const NOBODY = createOpencodeClient({ baseUrl: 'http://127.0.0.1:1' });

function serverWith(client: OpencodeClient): OpencodeServer {
  const folders = new Folders(client, '/w');
  return {
    client,
    folders,
    // Longer than a test lasts.
    door: new Door(600_000),
    isAlive: true,
    hear() {},
    forget() {},
  } as unknown as OpencodeServer;
}

function sessionOn(server: Promise<OpencodeServer>, settings: object = { model: 'p/m' }) {
  const said: TranscriptEntry[] = [];
  const stop = new AbortController();
  const released: OpencodeServer[] = [];
  const opening = {
    role: 'dev',
    settings: { tools: ['alpha'], ...settings },
    folder: '/w/own',
    shiftFolder: '/w/.nightshift/s',
    transcript: (entry: TranscriptEntry) => void said.push(entry),
    signal: stop.signal,
  } as unknown as Opening;
  const pool = {
    take: () => server,
    release: async (each: OpencodeServer) => void released.push(each),
    later: (work: () => Promise<void>) => void work(),
  };
  const question: Question = { prompt: 'do it', schema: {}, steps: [], environment: {} };
  const session = new OpencodeSession(opening, pool);
  return { session, released, said, stop, ask: () => session.ask(question) };
}

/** A server that does all that it is asked for, and what that was. */
function willing() {
  const calls: string[] = [];
  const answers: Record<string, unknown> = {
    'config.get': { mcp: {} },
    'config.providers': { providers: [{ id: 'p', models: { m: {} } }] },
    'mcp.status': { alpha: { status: 'connected' } },
    'session.create': { id: 'ses_1' },
  };
  const group = (name: string) =>
    new Proxy(
      {},
      {
        get: (_, method: string) => async () => {
          calls.push(`${name}.${method}`);
          return { data: answers[`${name}.${method}`] ?? {} };
        },
      },
    );
  const client = new Proxy({}, { get: (_, name: string) => group(name) }) as OpencodeClient;
  return { client, calls };
}

test('X5 a server that does not answer is no lack of a model or an MCP server, and nobody stays in it', async () => {
  const server = serverWith(NOBODY);
  const { ask, released } = sessionOn(Promise.resolve(server));
  const answer = await ask();
  expect(answer).toMatchObject({ kind: 'trouble', trouble: { reason: expect.stringContaining('its server is gone') } });
  expect(answer).not.toHaveProperty('trouble.remedy');
  expect(released).toEqual([server]);
});

test('X5 a server that went between two attempts uses up none of them', async () => {
  const { client } = willing();
  const { session: sessions } = client;
  const error = new TypeError('fetch failed');
  const session = { create: () => sessions.create({}), promptAsync: async () => ({ error }) };
  const server = serverWith({ ...parts(client), session } as unknown as OpencodeClient);
  const { ask, session: asked, stop } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'trouble' });
  expect(asked.remembers).toBe(false);
  // Node warns its user of a signal that more than ten listen to.
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

const ANSWER = {
  ...{ id: 'm1', role: 'assistant', agent: 'nightshift-engine-dev', providerID: 'p', modelID: 'm' },
  time: { completed: 1 },
};
const TOKENS = { input: 5, output: 2, reasoning: 0, cache: { read: 0, write: 0 } };

/** A server that answers each prompt with these events, some of them later, and records the calls that it gets. */
function telling(events: readonly object[], { hasBroken = false } = {}) {
  const { client, calls } = willing();
  const script = { events, later: [] as readonly object[] };
  const tell = (each: readonly object[]) => {
    for (const event of each) hearer?.hear(event as ServerEvent, true);
  };
  const looked = {
    create: client.session.create,
    promptAsync: async () => {
      if (hasBroken) hearer?.missed();
      tell(script.events);
      setTimeout(tell, 200, script.later);
      return {};
    },
    status: async () => ({ data: {} }),
    messages: async () => ({ data: [{ info: { ...ANSWER, structured: { is: 'asked for' } }, parts: [] }] }),
    get: async () => ({ data: { tokens: { ...TOKENS, input: 50 } } }),
  };
  const session = new Proxy(looked, {
    get: (target, name: keyof typeof looked) => {
      calls.push(name);
      return target[name];
    },
  });
  const server = serverWith({ ...parts(client), session } as unknown as OpencodeClient);
  let hearer: Hearer | undefined;
  server.hear = (_, each) => {
    hearer = each;
  };
  return { server, calls, script };
}

const told = (type: string, properties: object) => ({ type, properties });
const TURN = [
  told('message.updated', { info: { ...ANSWER, time: {} } }),
  told('message.part.updated', { part: { id: 'p1', messageID: 'm1', type: 'text', text: '{"is":"heard"}' } }),
  told('message.part.updated', { part: { id: 'p2', messageID: 'm1', type: 'step-finish', cost: 0, tokens: TOKENS } }),
  told('message.updated', { info: ANSWER }),
  // Of an older message nothing counts.
  told('message.updated', { info: { ...ANSWER, id: 'm0', structured: { is: 'old' } } }),
  told('session.idle', {}),
];

/** The same, of a later message. */
function turnOf(message: string): object[] {
  const ids = JSON.stringify(TURN).replaceAll(/"m1"|"p\d"/g, (id) => `"${message}${id.slice(1)}`);
  return JSON.parse(ids.replace('heard', `heard in ${message}`));
}

test('X1 a turn whose events were all heard is read from them, and the server is asked for nothing more', async () => {
  const { server, calls } = telling(TURN);
  const { ask } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({
    kind: 'report',
    report: { is: 'heard' },
    usage: { inputTokens: 5, outputTokens: 2 },
  });
  expect(calls.slice(calls.indexOf('promptAsync'))).toEqual(['promptAsync']);
});

test('X1 where events may have been missed, the server is asked what was said and spent', async () => {
  const { server } = telling(TURN, { hasBroken: true });
  const { ask } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'report', report: { is: 'asked for' }, usage: { inputTokens: 50 } });
});

test('X1 what is still told of one turn is none of the next, and does not end it', async () => {
  const { server, script } = telling(TURN);
  const { ask, said } = sessionOn(Promise.resolve(server));
  await ask();
  said.length = 0;
  const isBusy = told('session.status', { status: { type: 'busy' } });
  script.events = [...TURN, isBusy, ...turnOf('m2').slice(0, -1)];
  script.later = turnOf('m3');
  expect(await ask()).toMatchObject({ report: { is: 'heard in m3' }, usage: { inputTokens: 10, outputTokens: 4 } });
  expect(said.filter(({ kind }) => kind === 'usage')).toHaveLength(2);
});

const FAILED = { error: { name: 'UnknownError', data: { message: 'it broke' } } };

test('X1 a turn that fails is over when what it had begun is put away, and not when it is idle for the first time', async () => {
  const { server, script } = telling([
    told('message.updated', { info: { ...ANSWER, time: {} } }),
    told('session.error', FAILED),
    told('session.idle', {}),
  ]);
  server.client.session.messages = (async () => ({ data: [] })) as never;
  script.later = [told('message.updated', { info: { ...ANSWER, ...FAILED } }), told('session.idle', {})];
  const { ask } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'failed', reason: 'opencode: UnknownError: it broke', model: 'p/m' });
});

test.each([
  { how: 'fails before it began', events: [told('session.error', FAILED)] },
  {
    how: 'fails and puts nothing away',
    events: [
      told('message.updated', { info: { ...ANSWER, time: {} } }),
      told('session.idle', {}),
      told('session.error', FAILED),
    ],
  },
  { how: 'is idle and says nothing', events: [told('session.idle', {})], reason: 'opencode gave no answer at all' },
])('X1 a turn that $how is over', async ({ events, reason = 'opencode: UnknownError: it broke' }) => {
  const { server } = telling(events);
  server.client.session.messages = (async () => ({ data: [] })) as never;
  const { ask } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'failed', reason });
});

test('X5 a failure stays one, with what it cost, where the server does not tell its models', async () => {
  const { server } = telling(TURN);
  const providers = async () => ({ error: { name: 'UnknownError' } });
  Object.assign(server.client, { config: { get: async () => ({ data: {} }), providers } });
  const { ask, session } = sessionOn(Promise.resolve(server), { model: 'p/other' });
  expect(await ask()).toMatchObject({
    kind: 'failed',
    reason: 'the model p/m answered instead of p/other',
    usage: { inputTokens: 5 },
  });
  expect(session.remembers).toBe(true);
});

test('X1 a prompt that is refused lets the next one in', async () => {
  const { server } = telling([]);
  server.client.session.promptAsync = (async () => ({ error: {}, response: {} })) as never;
  const { ask } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'failed' });
  await server.door.enter(new Promise(() => {}));
});

test('T4 who is stopped while others begin asks nothing later', async () => {
  const { server, calls } = telling(TURN);
  void server.door.enter(new Promise(() => {}));
  const { ask, stop } = sessionOn(Promise.resolve(server));
  const answer = ask();
  await expect.poll(() => calls).toContain('session.create');
  stop.abort();
  expect(await answer).toEqual({ kind: 'aborted' });
  expect(calls).not.toContain('promptAsync');
});

test('X1 where no model is set, the transcript and the answer tell which one OpenCode chose', async () => {
  const { server } = telling(TURN);
  const { ask, said } = sessionOn(Promise.resolve(server), {});
  expect(await ask()).toMatchObject({ kind: 'report', model: 'p/m' });
  expect(said).toContainEqual({ kind: 'note', text: 'no model is set: OpenCode chose p/m' });
});

test('T4 a session that is stopped while its server starts asks nothing later, and lets go of the server', async () => {
  let started: (server: OpencodeServer) => void = () => {};
  const starting = new Promise<OpencodeServer>((resolve) => {
    started = resolve;
  });
  const { session, ask, released, stop } = sessionOn(starting);
  const answer = ask();
  stop.abort();
  expect(await answer).toEqual({ kind: 'aborted' });
  await session[Symbol.asyncDispose]();
  const { client, calls } = willing();
  started(serverWith(client));
  await expect.poll(() => released.length).toBe(1);
  expect(calls).toContain('session.delete');
  expect(calls).not.toContain('session.promptAsync');
});

test('D2 nobody comes into a folder whose instance is ending: who does waits, and looks anew', async () => {
  const { client, calls } = willing();
  let ended = () => {};
  const instance = {
    dispose: () =>
      new Promise<void>((resolve) => {
        calls.push('instance.dispose');
        ended = resolve;
      }),
  };
  const folders = new Folders({ ...parts(client), instance } as unknown as OpencodeClient, '/w');
  const enter = () => folders.enter('/w/own', ['alpha'], new Map());
  await enter();
  const leaving = folders.leave('/w/own');
  await expect.poll(() => calls.at(-1)).toBe('instance.dispose');
  calls.length = 0;
  const entered = enter();
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual([]);
  ended();
  await Promise.all([leaving, entered]);
  expect(calls).toEqual(['config.get', 'mcp.status', 'mcp.status']);
});

function parts({ config, mcp, session }: OpencodeClient): object {
  return { config, mcp, session };
}
