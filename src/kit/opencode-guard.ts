// An OpenCode plugin that `nightshift init` installs next to the agents. OpenCode's own permission rules match the
// text of each program call in a shell line, so they can't see where output goes (`> file` alone is no call at all),
// nor which word of a call is which. For the three agents of Nightshift, this plugin asks the rules in
// `nightshift-guard/` before every use of a tool.
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Facts, roleOf } from './nightshift-guard/places.ts';
import { isTaskIn, projectAt, realOf } from './nightshift-guard/real-path.ts';
import { type Action, refusal, withoutSecrets } from './nightshift-guard/rules.ts';

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
  /** Package names, paths and file URLs, alone or with options. */
  readonly plugin?: readonly (string | readonly unknown[])[];
  readonly agent?: Readonly<Record<string, { readonly permission?: { readonly bash?: unknown } } | undefined>>;
}

interface Call {
  readonly tool: string;
  readonly sessionID: string;
}

interface Args {
  readonly command?: string;
  readonly workdir?: string;
  readonly filePath?: string;
  readonly patchText?: string;
  readonly path?: string;
  readonly pattern?: string;
  readonly include?: string;
  readonly subagent_type?: string;
}

/** The agent of a session, and everything that it was told there. */
interface Session {
  readonly agent: string;
  readonly told: string;
}

/** OpenCode treats every export here as a plugin. */
export async function Nightshift({ directory, client }: World) {
  const sessions = new Map<string, Session>();
  const project = projectAt(directory);
  let isDevOpen = false;
  let settings: readonly string[] = [];

  /** Looks up a session that is older than this plugin. */
  async function sessionOf(id: string): Promise<Session> {
    const known = sessions.get(id);
    if (known !== undefined) return known;
    const { data = [] } = await client.session.messages({ path: { id } });
    const said = data.filter(({ info }) => info.role === 'user');
    return { agent: said.at(-1)?.info.agent ?? '', told: said.map(({ parts }) => textOf(parts)).join('\n') };
  }

  /** The other plugin has added it to the rules of the session if the task has `tools: bash`. */
  async function hasShell(id: string): Promise<boolean> {
    const { data } = await client.session.get({ path: { id } });
    const rules = data?.permission ?? [];
    return rules.findLast(({ permission, pattern }) => permission === 'bash' && pattern === '*')?.action === 'allow';
  }

  async function factsOf(id: string): Promise<Facts | undefined> {
    const { agent, told } = await sessionOf(id);
    const role = roleOf(agent);
    if (role === undefined) return undefined;
    return {
      role,
      project,
      folder: directory,
      told,
      hasShell: role === 'dev' && (isDevOpen || (await hasShell(id))),
      settings,
      realOf,
      isTask: (shift, task) => isTaskIn(project, shift, task),
    };
  }

  return {
    async config(config: Config) {
      // /nightshift-start starts a manager, which starts dev and qa: one level more than OpenCode's default.
      config.subagent_depth = Math.max(config.subagent_depth ?? 1, 2);
      isDevOpen = isWholeShell(config.agent?.['nightshift-dev']?.permission?.bash);
      settings = settingsOf(config, directory);
    },
    async 'chat.message'(
      { sessionID }: { sessionID: string },
      { message, parts }: { message: { agent: string }; parts: readonly Part[] },
    ) {
      const before = sessions.get(sessionID)?.told ?? '';
      sessions.set(sessionID, { agent: message.agent, told: `${before}\n${textOf(parts)}` });
    },
    async 'tool.execute.before'({ tool, sessionID }: Call, { args }: { args: Args }) {
      const facts = await factsOf(sessionID);
      if (facts === undefined) return;
      for (const action of actionsOf(tool, args, directory)) {
        const why = refusal(action, facts);
        if (why !== undefined) throw new Error(why);
      }
    },
    async 'tool.execute.after'({ tool, sessionID }: Call, result: { output?: string }) {
      if (tool !== 'grep' && tool !== 'bash') return;
      if (roleOf((await sessionOf(sessionID)).agent) === undefined) return;
      result.output = withoutSecrets(result.output ?? '');
    },
  };
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text = '' }) => text).join('\n');
}

/** The actions of a tool call. */
function actionsOf(tool: string, args: Args, directory: string): Action[] {
  const { command = '', workdir, path, pattern, include, filePath, subagent_type: agent = '' } = args;
  switch (tool) {
    case 'bash':
      return [{ kind: 'shell', line: command, folder: resolve(directory, workdir ?? '.') }];
    case 'task':
      return [{ kind: 'start', agent }];
    case 'grep':
    case 'glob':
    case 'list': {
      const glob = tool === 'glob' ? pattern : include;
      return [{ kind: 'search', path: path ?? '.', ...(glob === undefined ? {} : { glob }) }];
    }
    case 'read':
    case 'lsp':
      return [{ kind: 'read', path: filePath ?? '.' }];
    default: {
      const paths = pathsIn(args);
      if (paths.length === 0) return [{ kind: 'other', input: args }];
      return paths.map((each) => ({ kind: 'write', path: each }));
    }
  }
}

/** Other settings files of OpenCode, and the plugins that they name. */
function settingsOf({ plugin = [] }: Config, directory: string): string[] {
  const { OPENCODE_CONFIG, OPENCODE_CONFIG_DIR } = process.env;
  const named = plugin.map((each) => String(typeof each === 'string' ? each : each[0]));
  const files = named.flatMap((each) => {
    if (each.startsWith('file://')) return [fileURLToPath(each)];
    return each.startsWith('.') || isAbsolute(each) ? [each] : [];
  });
  return [OPENCODE_CONFIG, OPENCODE_CONFIG_DIR, ...files]
    .filter((file) => file !== undefined && file !== '')
    .map((file) => resolve(directory, file!));
}

function isWholeShell(bash: unknown): boolean {
  if (typeof bash === 'string') return bash === 'allow';
  return typeof bash === 'object' && bash !== null && '*' in bash && bash['*'] === 'allow';
}

function pathsIn({ filePath, patchText = '' }: Args): string[] {
  const patched = [...patchText.matchAll(/^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm)];
  return [...(filePath === undefined ? [] : [filePath]), ...patched.map(([, path]) => path!.trim())];
}
