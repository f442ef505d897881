import { basename, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble, Usage } from '../../core/model/model.ts';
import { rest, sum } from '../../core/model/usage.ts';
import type { Answer, Opening, Question, Session } from '../agent.ts';
import { opencodeAtHome } from '../confined-home.ts';
import { readMcpJson } from '../mcp-json.ts';
import { type LastMessage, lastMessageIn, modelOf, readAnswer, usageOf } from './answer.ts';
import { agentName, namedServers, permissionRules, serverEnvironment, splitModel } from './config.ts';
import { EventReader } from './events.ts';
import { whyNoModel } from './models.ts';
import type { OpencodeServer, WantedServer } from './server.ts';
import { gone, Wait } from './wait.ts';

/** The server for an environment, started if needed. Call `release` when the session is over. */
export interface ServerPool {
  take(wanted: WantedServer): Promise<OpencodeServer | Trouble>;
  release(server: OpencodeServer): Promise<void>;
  /** Runs later, or when the run ends, in the background. */
  later(work: () => Promise<void>): void;
}

/** Events may be missed when the stream breaks off. */
const LOOK_MS = 10_000;
/** An event may come a moment before its data. */
const LOOK_AGAIN_MS = 50;
/** A session that is idle and silent after this many checks stays silent. */
const MOST_LOOKS = 60;
/** An abort is lost if the session is not busy yet, so it is repeated. */
const ABORT_AGAIN_MS = 200;
const ABORT_MS = 1500;

interface RemoteSession {
  readonly server: OpencodeServer;
  readonly id: string;
}

/** One session of the server, created with the first question. */
export class OpencodeSession implements Session {
  readonly #opening: Opening;
  readonly #pool: ServerPool;
  readonly #root: string;
  #remote: RemoteSession | undefined;
  /** The last known message, and what the session had spent by then. */
  #lastMessage = '';
  #spent: Usage = {};
  #isLost = false;
  #isOver = false;

  constructor(opening: Opening, pool: ServerPool) {
    this.#opening = opening;
    this.#pool = pool;
    this.#root = dirname(dirname(opening.shiftFolder));
  }

  get remembers(): boolean {
    return this.#remote?.server.isAlive === true && !this.#isLost;
  }

  async ask(question: Question): Promise<Answer> {
    const { signal, transcript } = this.#opening;
    transcript({ kind: 'prompt', text: question.prompt });
    if (signal.aborted) return { kind: 'aborted' };
    // Whatever the server does.
    using patience = abortedLongAgo(signal);
    return await Promise.race([this.#answer(question), patience.over]);
  }

  async #answer(question: Question): Promise<Answer> {
    const { signal } = this.#opening;
    try {
      const remote = this.#remote ?? (await this.#begin(question));
      if ('reason' in remote) return signal.aborted ? { kind: 'aborted' } : { kind: 'trouble', trouble: remote };
      this.#remote = remote;
      // It never began.
      if (this.#isOver) await this[Symbol.asyncDispose]();
      return this.#isOver ? { kind: 'aborted' } : await this.#turn(remote, question);
    } catch (error) {
      if (signal.aborted) return { kind: 'aborted' };
      return { kind: 'trouble', trouble: await this.#lost((error as Error).message) };
    }
  }

  /** The server does not answer, or not in the expected form. */
  async #lost(message: string): Promise<Trouble> {
    this.#isLost = true;
    const server = this.#remote?.server;
    return gone(server && !server.isAlive ? await server.ended : message);
  }

  async #begin({ environment }: Question): Promise<RemoteSession | Trouble> {
    const { folder, mask, sandbox } = this.#opening;
    const home = await opencodeAtHome(this.#opening, serverEnvironment(environment));
    const root = sandbox === undefined ? this.#root : folder;
    const server = await this.#pool.take({ ...home, root, folder, mask });
    if ('reason' in server) return server;
    const remote = await this.#create(server, environment).catch((error: Error) => gone(error.message));
    if ('reason' in remote) {
      await server.folders.leave(folder).catch(() => {});
      await this.#pool.release(server);
    }
    return remote;
  }

  async #create(server: OpencodeServer, environment: Question['environment']): Promise<RemoteSession | Trouble> {
    const { role, settings, folder } = this.#opening;
    const named = role === 'manager' ? [] : namedServers(settings.tools);
    const ofProject = await readMcpJson([folder, this.#root], environment);
    const servers = await server.folders.enter(folder, named, ofProject.servers);
    if ('reason' in servers) return servers;
    const { data, error } = await server.client.session.create({
      directory: folder,
      // With a title, no model is asked to write one.
      title: `Nightshift: ${role}`,
      agent: agentName(role),
      permission: permissionRules(role, settings.tools, servers, basename(environment.NIGHTSHIFT_SHIFT_DIR ?? '')),
    });
    return data ? { server, id: data.id } : { reason: `opencode: no session: ${JSON.stringify(error)}` };
  }

  async #turn(remote: RemoteSession, question: Question): Promise<Answer> {
    const { role, settings, folder, signal, transcript } = this.#opening;
    const { client } = remote.server;
    using wait = new Wait(signal);
    const reader = new EventReader(transcript, wait, this.#lastMessage);
    remote.server.hear(remote.id, {
      hear: (event, isOwn) => reader.hear(event, isOwn),
      missed: () => {
        reader.miss();
        // No event will report it.
        wait.setOut();
      },
      gone: (how) => wait.gone(how),
    });
    const model = settings.model === undefined ? undefined : splitModel(settings.model);
    await remote.server.door.enter(wait.underWay);
    if (wait.reason) return wait.reason;
    const { error, response } = await client.session.promptAsync({
      sessionID: remote.id,
      directory: folder,
      agent: agentName(role),
      ...(model ? { model } : {}),
      format: { type: 'json_schema', schema: question.schema as Record<string, unknown> },
      parts: [{ type: 'text', text: question.prompt }],
    });
    if (error && !response) return { kind: 'trouble', trouble: await this.#lost(String(error)) };
    if (error) return this.#blame(remote, { kind: 'failed', reason: `opencode: ${JSON.stringify(error)}` });
    const { said, usage: own } = await this.#end(remote, wait, reader);
    const read = () => readAnswer(said, { agent: agentName(role), model: settings.model }, wait.error);
    const answer = wait.reason ?? (await this.#blame(remote, read()));
    this.#isLost ||= answer.kind === 'trouble' || answer.kind === 'aborted';
    this.#lastMessage = said?.info.id ?? reader.last;
    const usage = sum(own, reader.ofChildren);
    // Later events of this turn are counted already.
    remote.server.forget(remote.id);
    const answered = said && modelOf(said.info);
    if (answered !== undefined && model === undefined) {
      transcript({ kind: 'note', text: `no model is set: OpenCode chose ${answered}` });
    }
    return { ...answer, usage, compacted: reader.compacted, ...(answered === undefined ? {} : { model: answered }) };
  }

  /** A missing model may be the cause of a failure: the program has no error type for it. */
  async #blame({ server }: RemoteSession, answer: Answer): Promise<Answer> {
    if (answer.kind !== 'failed') return answer;
    const { folder, settings } = this.#opening;
    // If the server can't tell, the failure stays as it is.
    const trouble = await whyNoModel(server.client, folder, settings.model).catch(() => undefined);
    return trouble ? { kind: 'trouble', trouble } : answer;
  }

  /** Waits until the turn ends on its own or there is a reason to end it. Returns its last message, if any. */
  async #end(
    remote: RemoteSession,
    wait: Wait,
    reader: EventReader,
  ): Promise<{ said?: LastMessage | undefined; usage: Usage }> {
    for (let looks = 0; ; ) {
      await wait.next(wait.isIdle ? LOOK_AGAIN_MS : LOOK_MS);
      if (wait.reason) {
        this.#isLost = !(await this.#abort(remote));
        // What was reported so far counts even if the server can't sum it up any more.
        const total = await this.#total(remote).catch(() => undefined);
        return { usage: total ? this.#spend(total) : reader.own };
      }
      const heard = wait.isIdle ? reader.said : undefined;
      if (heard) {
        this.#spent = sum(this.#spent, reader.own);
        return { said: heard, usage: reader.own };
      }
      if (!wait.isIdle && (await this.#isBusy(remote))) continue;
      // In parallel: each request takes as long as the server is busy.
      const [isBusy, said, total] = await Promise.all([this.#isBusy(remote), this.#said(remote), this.#total(remote)]);
      if (isBusy) continue;
      // Requests get no answer while it cleans up.
      const isSettled = wait.isSettled || !reader.isAnswering;
      const hasEnded = wait.error !== undefined || (wait.isIdle && ++looks >= MOST_LOOKS);
      if (said || (isSettled && hasEnded)) return { said, usage: this.#spend(total) };
    }
  }

  async #isBusy({ server, id }: RemoteSession): Promise<boolean> {
    const { data } = await server.client.session.status({ directory: this.#opening.folder });
    const state = data?.[id];
    return state !== undefined && state.type !== 'idle';
  }

  /** Only the last message: the server refuses a list with a prompt that has a schema (1.18.33). */
  async #said({ server, id }: RemoteSession): Promise<LastMessage | undefined> {
    const query = { sessionID: id, directory: this.#opening.folder, limit: 1 };
    return lastMessageIn((await server.client.session.messages(query)).data?.at(-1), this.#lastMessage);
  }

  /** The total of the session as the program reports it, without child sessions. */
  async #total({ server, id }: RemoteSession): Promise<Usage | undefined> {
    if (!server.isAlive) return undefined;
    const { data } = await server.client.session.get({ sessionID: id, directory: this.#opening.folder });
    return data?.tokens && usageOf({ cost: data.cost ?? 0, tokens: data.tokens });
  }

  /** What this turn adds to the total. */
  #spend(total: Usage | undefined): Usage {
    const before = this.#spent;
    this.#spent = total ?? before;
    return (total && rest(total, before)) ?? {};
  }

  /** Repeats until it works, or the engine waits no longer. Returns whether it worked. */
  async #abort(remote: RemoteSession): Promise<boolean> {
    const { server, id } = remote;
    const repeat = async () => {
      while (server.isAlive) {
        await server.client.session.abort({ sessionID: id, directory: this.#opening.folder });
        await delay(ABORT_AGAIN_MS);
        if (!(await this.#isBusy(remote))) return true;
      }
      return false;
    };
    return Promise.race([repeat().catch(() => false), delay(ABORT_MS, false, { ref: false })]);
  }

  /** Its turn ended or was aborted: no need to wait until the server has cleaned up. */
  async [Symbol.asyncDispose](): Promise<void> {
    const remote = this.#remote;
    this.#remote = undefined;
    this.#isOver = true;
    remote?.server.forget(remote.id);
    if (remote) this.#pool.later(() => this.#remove(remote));
  }

  /** Removes the session: prompts may hold values of `.env`, which must not stay on disk. */
  async #remove({ server, id }: RemoteSession): Promise<void> {
    if (server.isAlive) {
      const directory = this.#opening.folder;
      const signal = AbortSignal.timeout(ABORT_MS);
      await server.client.session.delete({ sessionID: id, directory }, { signal }).catch(() => {});
      await server.folders.leave(directory).catch(() => {});
    }
    await this.#pool.release(server);
  }
}

/** A session asks many times, and must release the signal each time. */
function abortedLongAgo(signal: AbortSignal): { over: Promise<Answer> } & Disposable {
  let later = () => {};
  const over = new Promise<Answer>((resolve) => {
    later = () => void setTimeout(() => resolve({ kind: 'aborted' }), ABORT_MS + 500).unref();
    signal.addEventListener('abort', later, { once: true });
  });
  return { over, [Symbol.dispose]: () => signal.removeEventListener('abort', later) };
}
