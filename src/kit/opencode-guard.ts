// A plugin of OpenCode, which `nightshift init` writes beside the agents. OpenCode's own permission rules match the text of
// each program call in a shell line, so they can't see where output goes (`> file` alone is no call at all), nor which word
// of a call is which. For the three agents of Nightshift, this looks at the line as the shell would read it.
import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

interface World {
  readonly directory: string;
  readonly client: {
    readonly session: {
      get(of: { path: { id: string } }): Promise<{ readonly data?: { readonly permission?: readonly Rule[] } }>;
      messages(of: { path: { id: string } }): Promise<{ readonly data?: readonly Message[] }>;
    };
  };
}

interface Rule {
  readonly permission: string;
  readonly pattern: string;
  readonly action: string;
}

interface Message {
  readonly info: { readonly role: string; readonly agent?: string };
  readonly parts: readonly Part[];
}

interface Part {
  readonly text?: string;
}

interface Config {
  subagent_depth?: number;
  readonly agent?: Readonly<Record<string, { readonly permission?: { readonly bash?: unknown } } | undefined>>;
}

interface Call {
  readonly tool: string;
  readonly sessionID: string;
}

interface Args {
  readonly command?: string;
  readonly filePath?: string;
  readonly patchText?: string;
}

/** Who works in a session, and all that it was told there. */
interface Session {
  readonly agent: string;
  readonly told: string;
}

/** Everything that is exported here is a plugin to OpenCode. */
export async function Nightshift({ directory, client }: World) {
  const sessions = new Map<string, Session>();
  let isDevOpen = false;

  /** A session that is older than this plugin is looked up. */
  async function sessionOf(id: string): Promise<Session> {
    const known = sessions.get(id);
    if (known !== undefined) return known;
    const { data = [] } = await client.session.messages({ path: { id } });
    const said = data.filter(({ info }) => info.role === 'user');
    return { agent: said.at(-1)?.info.agent ?? '', told: said.map(({ parts }) => textOf(parts)).join('\n') };
  }

  /** The plugin beside this one has said so in the rules of the session, where the task has `tools: bash`. */
  async function hasShell(id: string): Promise<boolean> {
    const { data } = await client.session.get({ path: { id } });
    const rules = data?.permission ?? [];
    return rules.findLast(({ permission, pattern }) => permission === 'bash' && pattern === '*')?.action === 'allow';
  }

  return {
    async config(config: Config) {
      // /nightshift-start starts a manager, and that starts dev and qa: one level more than OpenCode allows by itself.
      config.subagent_depth = Math.max(config.subagent_depth ?? 1, 2);
      isDevOpen = isWholeShell(config.agent?.['nightshift-dev']?.permission?.bash);
    },
    async 'chat.message'(
      { sessionID }: { sessionID: string },
      { message, parts }: { message: { agent: string }; parts: readonly Part[] },
    ) {
      const before = sessions.get(sessionID)?.told ?? '';
      sessions.set(sessionID, { agent: message.agent, told: `${before}\n${textOf(parts)}` });
    },
    async 'tool.execute.before'({ tool, sessionID }: Call, { args }: { args: Args }) {
      const { agent, told } = await sessionOf(sessionID);
      const limit = LIMITS[agent];
      if (limit === undefined) return;
      if (tool === 'bash') {
        const isOpen = agent === 'nightshift-dev' && (isDevOpen || (await hasShell(sessionID)));
        if (isOpen) checkPrompts([args.command ?? ''], told);
        else checkLine(args.command ?? '', limit);
      }
      for (const path of pathsIn(args)) {
        const both = [resolve(directory, path), realOf(resolve(directory, path))];
        if (tool === 'read') checkPrompts(both, told);
        else checkWrite(path, both);
      }
    },
    async 'tool.execute.after'({ tool, sessionID }: Call, result: { output?: string }) {
      const { agent } = await sessionOf(sessionID);
      if ((tool !== 'grep' && tool !== 'bash') || LIMITS[agent] === undefined) return;
      result.output = result.output?.replace(/--token \w+/g, '--token (of somebody else)') ?? '';
    },
  };
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text = '' }) => text).join('\n');
}

/** `both`: the path as it was given, and where links lead to. */
function checkWrite(path: string, both: readonly string[]): void {
  if (both.some((each) => /(^|[\\/])\.nightshift([\\/]|$)/i.test(each))) {
    throw new Error(`${path} is inside .nightshift, which belongs to Nightshift: write nothing there.`);
  }
}

/** Prompts hold tokens: each is for the one agent that was told of it. Of what a shell does, only the words are seen. */
function checkPrompts(places: readonly string[], told: string): void {
  const prompts = places.flatMap((each) => each.match(PROMPT) ?? []);
  const other = prompts.find((name) => !told.includes(name));
  if (other !== undefined) throw new Error(`${other} is the prompt of somebody else.`);
}

const PROMPT = /[^\\/\s'"]+[\\/]\.engine[\\/]prompts[\\/][^\s'";|&<>()]+/gi;

/** Whether an agent may run this command, as far as the guard says: OpenCode's own rules come on top. */
type Limit = (words: readonly string[]) => boolean;

const TABLE_READS = ['count', 'headers', 'show', 'search', 'slice'];
const QSV_READS = ['count', 'headers', 'search', 'slice', 'select'];

const LIMITS: Readonly<Record<string, Limit>> = {
  'nightshift-manager': isManagers,
  // What else it may run is up to the rules, where a person may have allowed it more.
  'nightshift-dev': (words) => words[0] !== 'nightshift' || isStatus(words, ['qa', 'failed']),
  'nightshift-qa': (words) => isStatus(words, ['done', 'failed']),
};

function checkLine(line: string, limit: Limit): void {
  const words = wordsOf(line);
  if (words === undefined) {
    throw new Error(
      'Only one plain command on a line, without pipes, redirections, substitutions or variables. Put a value that has signs of the shell between single quotes.',
    );
  }
  if (!limit(words))
    throw new Error('This agent of Nightshift may not run that. Your instructions name what you may run.');
}

function isManagers(words: readonly string[]): boolean {
  const [program, verb = '', third = ''] = words;
  if (program === 'qsv') return isQsvRead(words);
  if (program === 'flock') return verb === '-x' && LOCK.test(third) && isQsvRead(words.slice(3));
  if (program !== 'nightshift') return false;
  if (verb === 'batch') return third === 'open' || third === 'close';
  if (verb === 'table') return TABLE_READS.includes(words[3] ?? '');
  return verb === 'lesson' || verb === 'status';
}

const LOCK = /^([^-].*\/)?\.nightshift\/[^/]+\/table\.csv\.lock$/;

/** Not into a file: `-o` may also be one of several letters. */
function isQsvRead([program, verb = '', ...rest]: readonly string[]): boolean {
  return program === 'qsv' && QSV_READS.includes(verb) && !rest.some((word) => /^-[A-Za-z]*o|^--o/.test(word));
}

/** `nightshift table SHIFT edit TASK INDEX STATUS --token T ...` and no other order of words. */
function isStatus(words: readonly string[], statuses: readonly string[]): boolean {
  const [program, command, , verb, , , status = '', token] = words;
  return (
    program === 'nightshift' &&
    command === 'table' &&
    verb === 'edit' &&
    token === '--token' &&
    statuses.includes(status)
  );
}

/** The words of a line that is one plain command; nothing if the shell would do more than call one program with them. */
function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let isInWord = false;
  for (let rest = line.trim(); rest !== ''; ) {
    const [whole, blank, quoted, plain] = PIECE.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    rest = rest.slice(whole.length);
    if (blank === undefined) words.push((isInWord ? words.pop()! : '') + (quoted?.slice(1, -1) ?? plain ?? "'"));
    isInWord = blank === undefined;
  }
  return words;
}

// Single quotes hold anything; double quotes nothing that is still expanded there; \' is an apostrophe.
const PIECE = /^(?:([ \t]+)|('[^']*'|"[^"$`\\!]*")|([\w./:@%+=,^-]+)|\\')/;

function isWholeShell(bash: unknown): boolean {
  if (typeof bash === 'string') return bash === 'allow';
  return typeof bash === 'object' && bash !== null && '*' in bash && bash['*'] === 'allow';
}

function pathsIn({ filePath, patchText = '' }: Args): string[] {
  const patched = [...patchText.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)];
  return [...(filePath === undefined ? [] : [filePath]), ...patched.map(([, path]) => path!.trim())];
}

/** Where a path ends up, also where nothing is yet. Links that lead round in a circle lead nowhere. */
function realOf(path: string, hops = 40): string {
  try {
    return realpathSync(path);
  } catch {}
  try {
    if (hops > 0) return realOf(resolve(dirname(path), readlinkSync(path)), hops - 1);
  } catch {}
  const parent = dirname(path);
  return parent === path ? path : join(realOf(parent, hops), path.slice(parent.length));
}
