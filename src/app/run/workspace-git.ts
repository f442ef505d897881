import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentEnvironment } from '../../agents/environment.ts';
import { runProcess } from '../../agents/process/process.ts';
import type { Git, GitCall, GitResult } from '../../workspace/git.ts';
import { parseSettings, renderSettings } from '../../workspace/settings.ts';
import type { World } from '../world.ts';
import { findGit } from './git-program.ts';

const LOCAL_MS = 10 * 60_000;
const REMOTE_MS = 30 * 60_000;

/** Nothing that an agent can write in a repository makes git run a program or tidy up. */
const SAFELY = [
  ...['core.fsmonitor=false', 'core.untrackedCache=false', 'gc.auto=0', 'maintenance.auto=false'],
  // Without this, git refuses the repository of another owner, and a desk over their files.
  'safe.directory=*',
].flatMap((setting) => ['-c', setting]);

/** What says how a person reaches a remote. Other variables of git would lead it to another repository. */
const CREDENTIALS = /^GIT_(ASKPASS|SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*)$/;
const CONFIGURATION = /^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$/;

/** A repository that an agent has made partial would fetch missing objects with a program that it names. */
const LOCAL = { GIT_ALLOW_PROTOCOL: 'file', GIT_NO_LAZY_FETCH: '1' };

export interface WorkspaceGitOptions {
  /** The project. Agents may have put programs there, so git is never run from it. */
  readonly root: string;
  /** Where the person's configuration is kept as it was at the first call; agents can't write there. */
  readonly copies: string;
  /** A run that never ended has kept it there: it still counts. */
  readonly isLeft?: boolean;
  readonly world: World;
  /** Marks its processes as those of a run of this shift, so that the next run ends what a kill left of them. */
  readonly shiftFolder?: string;
}

/** Git for workspaces. It has the person's credentials only for calls that reach a remote. */
export function workspaceGit({ root, copies, isLeft = false, world, shiftFolder }: WorkspaceGitOptions): Git {
  const plain = agentEnvironment({ caller: world.env, passEnv: [], secrets: {}, own: {} });
  const file = findGit(plain.PATH ?? '', root);
  let kept: Promise<string> | undefined;
  const run = async (call: GitCall, env: Readonly<Record<string, string>>): Promise<GitResult> => {
    const { isRemote = false, folder, input, args } = call;
    const limit = AbortSignal.timeout(call.withinMs ?? (isRemote ? REMOTE_MS : LOCAL_MS));
    const printed: Record<'stdout' | 'stderr', string[]> = { stdout: [], stderr: [] };
    const ended = await runProcess({
      file,
      args: [...SAFELY, ...args],
      cwd: folder,
      env: { ...env, ...(shiftFolder && { NIGHTSHIFT_SHIFT_DIR: shiftFolder }), ...call.env },
      ...(input === undefined ? {} : { input }),
      signal: AbortSignal.any([call.signal, limit]),
      keepBytes: 0,
      onOutput: (stream, text) => printed[stream].push(text),
    });
    const [text, said] = [printed.stdout.join(''), printed.stderr.join('')];
    if (ended.kind === 'exited' && ended.code === 0) return { kind: 'done', text, said };
    if (ended.kind === 'exited') return { kind: 'refused', code: ended.code, said: `${text}${said}` };
    return { kind: 'not-run', reason: whyNot(ended, limit.aborted) };
  };
  const environment = (call: Pick<GitCall, 'isRemote' | 'readsConfiguration'>) => ({
    ...(call.isRemote ? personEnvironment(world.env) : { ...plain, ...LOCAL }),
    ...(call.readsConfiguration ? matching(world.env, CONFIGURATION) : {}),
    ...{ GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_EDITOR: 'false', LC_ALL: 'C.UTF-8', LANGUAGE: '' },
  });
  const keep = async () => {
    const config = join(copies, 'person.config');
    if (isLeft && existsSync(config)) return config;
    const list = ['config', '--list', '--includes', '-z'];
    const call = { folder: '/', args: list, signal: new AbortController().signal, readsConfiguration: true };
    const listed = await run(call, environment(call));
    mkdirSync(copies, { recursive: true, mode: 0o700 });
    // Those of the command line come last.
    const settings = parseSettings(listed.kind === 'done' ? listed.text : '').filter(([key]) => !isOurs(key));
    writeFileSync(`${config}.new`, renderSettings(settings), { mode: 0o600 });
    renameSync(`${config}.new`, config);
    return config;
  };
  return {
    run: async (call) => {
      if (call.readsConfiguration) return run(call, environment(call));
      kept ??= keep();
      return run(call, { ...environment(call), GIT_CONFIG_GLOBAL: await kept, GIT_CONFIG_NOSYSTEM: '1' });
    },
  };
}

const OURS = new Set(SAFELY.map((setting) => setting.split('=')[0]!.toLowerCase()));

function isOurs(key: string): boolean {
  return OURS.has(key) || /^include(if)?\./.test(key);
}

/** Everything that the person has, except what would lead git to another repository. */
function personEnvironment(caller: World['env']): Record<string, string> {
  return matching(caller, /^(?!GIT_)/, CREDENTIALS);
}

function matching(caller: World['env'], ...patterns: RegExp[]): Record<string, string> {
  const entries = Object.entries(caller).filter(([name]) => patterns.some((pattern) => pattern.test(name)));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function whyNot(ended: { readonly kind: string; readonly reason?: string }, isLate: boolean): string {
  if (isLate) return 'git took too long and was ended';
  return ended.reason ?? (ended.kind === 'aborted' ? 'git was ended' : 'git ended by a signal');
}
