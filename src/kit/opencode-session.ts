// An OpenCode plugin that `nightshift init` installs next to the agents. It tells the command `nightshift` what only
// OpenCode knows: which conversation calls it, and which are working. It also notices when a manager's context was
// compacted, gives the shell of a dev the shift's variables, and shortens what agents answer to the manager.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface World {
  readonly directory: string;
  readonly client: {
    readonly session: {
      messages(of: { path: { id: string } }): Promise<{ readonly data?: readonly Message[] }>;
      /** The working conversations; all others are idle. */
      status(): Promise<{ readonly data?: Readonly<Record<string, { readonly type: string }>> }>;
    };
  };
}

interface Message {
  readonly info: { readonly role: string; readonly agent?: string };
  readonly parts: readonly { readonly type?: string; readonly text?: string }[];
}

interface Call {
  readonly tool: string;
  readonly sessionID: string;
}

type Environment = Record<string, string>;

/** OpenCode treats every export here as a plugin. */
export async function NightshiftSession({ directory, client }: World) {
  const agents = new Map<string, string>();

  async function messagesOf(id: string): Promise<readonly Message[]> {
    return (await client.session.messages({ path: { id } })).data ?? [];
  }

  /** Looks up a session that is older than this plugin. */
  async function agentOf(id: string): Promise<string> {
    const known = agents.get(id);
    if (known !== undefined) return known;
    return (await messagesOf(id)).findLast(({ info }) => info.role === 'user')?.info.agent ?? '';
  }

  /** The conversation, for `nightshift batch`: a batch belongs to the one that opened it. */
  async function callerOf(id: string): Promise<Environment> {
    const sessions = Object.entries((await client.session.status()).data ?? {});
    const busy = sessions.filter(([, { type }]) => type !== 'idle').map(([session]) => session);
    return { NIGHTSHIFT_SESSION: id, NIGHTSHIFT_BUSY: busy.join(' ') };
  }

  return {
    async 'chat.message'({ sessionID }: { sessionID: string }, { message }: { message: { agent: string } }) {
      agents.set(sessionID, message.agent);
    },
    async 'tool.execute.before'({ tool, sessionID }: Call, { args }: { args: { command?: string } }) {
      if (tool !== 'bash' || !/\bnightshift\s+batch\s+open\b/.test(args.command ?? '')) return;
      if ((await agentOf(sessionID)) !== 'nightshift-manager') return;
      const isCompacted = (await messagesOf(sessionID)).some(({ parts }) => parts.some(isCompaction));
      if (isCompacted) throw new Error(COMPACTED);
    },
    async 'shell.env'({ sessionID }: { sessionID?: string }, { env }: { env: Environment }) {
      if (sessionID === undefined) return;
      const role = /^nightshift-(dev|qa)$/.exec(await agentOf(sessionID))?.[1];
      if (role === undefined) Object.assign(env, await callerOf(sessionID));
      // It is not a person, whatever it runs.
      else env.NIGHTSHIFT_ROLE = role;
      if (role === 'dev') Object.assign(env, variablesFor(await messagesOf(sessionID), directory));
    },
    async 'tool.execute.after'({ tool, sessionID }: Call, result: { output?: string }) {
      if ((await agentOf(sessionID)) !== 'nightshift-manager') return;
      const output = result.output ?? '';
      result.output = masked(tool === 'task' ? withShortAnswer(output) : output, directory);
    },
  };
}

const COMPACTED =
  'The context of this conversation was compacted, so it opens no more batches. Answer with `Compacted: true` as your last line, and stop: a fresh manager resumes from the files.';

function isCompaction({ type }: { readonly type?: string }): boolean {
  return type === 'compaction';
}

/** From the batch whose prompt this dev was told about; gone when the batch is closed. */
function variablesFor(messages: readonly Message[], directory: string): Environment {
  const told = messages.filter(({ info }) => info.role === 'user').flatMap(({ parts }) => parts);
  const shift = PROMPT.exec(told.map(({ text = '' }) => text).join('\n'))?.[1];
  return shift === undefined ? {} : readVariables(directory, shift);
}

function readVariables(directory: string, shift: string): Environment {
  try {
    const file = join(directory, '.nightshift', shift, '.engine', 'prompts', 'environment.json');
    return JSON.parse(readFileSync(file, 'utf8')) as Environment;
  } catch {
    return {};
  }
}

/** Prompts and agents contain values that a manager does not need, and a search may find them. */
function masked(output: string, directory: string): string {
  const secrets = shiftsIn(directory).flatMap((shift) => Object.entries(readVariables(directory, shift)));
  return secrets
    .filter(([, value]) => value.length >= SHORTEST_SECRET)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .reduce((text, [name, value]) => text.replaceAll(value, `[${name}]`), output);
}

/** Shorter values occur in many words. */
const SHORTEST_SECRET = 4;

function shiftsIn(directory: string): string[] {
  try {
    return readdirSync(join(directory, '.nightshift'));
  } catch {
    return [];
  }
}

const PROMPT = /\.nightshift\/([a-z0-9-]+)\/\.engine\/prompts\/row-\d+-dev\.md/;

/** A manager needs only one line: the table has the result. */
function withShortAnswer(output: string): string {
  return output.replace(/<task_result>\s*([\s\S]*?)\s*<\/task_result>/, (_, text: string) => {
    const last = text.split('\n').at(-1)!.trim();
    const short = last.length > LONGEST_ANSWER ? `${last.slice(0, LONGEST_ANSWER)}...` : last;
    return `<task_result>\n${short}\n</task_result>`;
  });
}

const LONGEST_ANSWER = 300;
