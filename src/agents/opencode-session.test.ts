import { createOpencodeClient, type OpencodeClient } from '@opencode-ai/sdk/v2/client';
import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../core/events.ts';
import type { Opening, Question } from './agent.ts';
import { Door } from './opencode-door.ts';
import type { ServerEvent } from './opencode-events.ts';
import { Folders } from './opencode-folders.ts';
import type { Hearer, OpencodeServer } from './opencode-server.ts';
import { OpencodeSession } from './opencode-session.ts';

/** Nobody listens there. */
const NOBODY = createOpencodeClient({ baseUrl: 'http://127.0.0.1:1' });

function serverWith(client: OpencodeClient): OpencodeServer {
  const folders = new Folders(client, '/w');
  return {
    client,
    folders,
    door: new Door(),
    isAlive: true,
    hear() {},
    forget() {},
  } as unknown as OpencodeServer;
}

function sessionOn(server: Promise<OpencodeServer>, settings: object = { model: 'a/b' }) {
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
    'config.providers': { providers: [{ id: 'a', models: { b: {} } }] },
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
  const { ask, session: asked } = sessionOn(Promise.resolve(server));
  expect(await ask()).toMatchObject({ kind: 'trouble' });
  expect(asked.remembers).toBe(false);
});

const ANSWER = {
  ...{ id: 'm1', role: 'assistant', agent: 'nightshift-engine-dev', providerID: 'p', modelID: 'm' },
  time: { completed: 1 },
};
const TOKENS = { input: 5, output: 2, reasoning: 0, cache: { read: 0, write: 0 } };

/** A server that answers each prompt by these events, and what it is asked for by itself. */
function telling(events: readonly object[], { hasBroken = false } = {}) {
  const { client, calls } = willing();
  const looked = {
    create: client.session.create,
    promptAsync: async () => {
      if (hasBroken) hearer?.missed();
      for (const event of events) hearer?.hear(event as ServerEvent, true);
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
  return { server, calls };
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

test('X1 a turn whose events were all heard is read from them, and the server is asked for nothing more', async () => {
  const { server, calls } = telling(TURN);
  const { ask } = sessionOn(Promise.resolve(server), { model: 'p/m' });
  expect(await ask()).toMatchObject({
    kind: 'report',
    report: { is: 'heard' },
    usage: { inputTokens: 5, outputTokens: 2 },
  });
  expect(calls.slice(calls.indexOf('promptAsync'))).toEqual(['promptAsync']);
});

test('X1 where events may have been missed, the server is asked what was said and spent', async () => {
  const { server } = telling(TURN, { hasBroken: true });
  const { ask } = sessionOn(Promise.resolve(server), { model: 'p/m' });
  expect(await ask()).toMatchObject({ kind: 'report', report: { is: 'asked for' }, usage: { inputTokens: 50 } });
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
