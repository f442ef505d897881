import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedScript } from '../../core/model/model.ts';
import type { DeliveryFailure, DeliveryRequest } from '../../core/workspace/workspaces.ts';
import { failed, failureFrom } from './failure.ts';

/** Runs a program of the person, with their environment and credentials. */
export type RunProgram = (request: {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly signal: AbortSignal;
}) => Promise<ProgramResult>;

/** `missing`: it is not installed. */
export type ProgramResult =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'not-run'; readonly reason: string };

interface PullRequest {
  readonly kind: 'pull-request';
  readonly url: string;
  /** `open`, `merged` or `closed`; empty if it is not known. */
  readonly state: string;
}

interface ProgramPlace {
  readonly runProgram: RunProgram;
  /** Never the workspace: an agent may have changed what its repository says. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface PullRequestPlace extends ProgramPlace {
  /** The address that was pushed to. */
  readonly address: string;
}

interface PullRequestAsked {
  readonly branch: string;
  readonly commit: string;
  readonly request: DeliveryRequest;
  /** Of an earlier delivery. */
  readonly url: string | undefined;
}

type Opened = PullRequest | DeliveryFailure;

/** Finds the pull request of a branch, or opens one. */
export async function openPullRequest(place: PullRequestPlace, asked: PullRequestAsked): Promise<Opened> {
  const { prCommand } = asked.request;
  if (prCommand) return openByCommand(place, prCommand, asked);
  const forge = forgeOf(place.address);
  const found = await findPullRequest(forge, place, asked.branch, asked.commit);
  if (found !== undefined) return found;
  const created = await call(forge, place, forge.create(asked), asked.request.body);
  if (created.kind === 'printed') {
    const url = lastAddress(created.text);
    if (url !== undefined) return { kind: 'pull-request', url, state: 'open' };
  }
  // Another program may have opened it at the same moment.
  const now = await findPullRequest(forge, place, asked.branch, asked.commit);
  if (now !== undefined) return now;
  return created.kind === 'printed'
    ? failed('pull request', `${forge.program} printed no address of a pull request`)
    : created;
}

/** The state of a pull request now. */
export async function readPullRequest(place: ProgramPlace, url: string): Promise<Opened> {
  const forge = forgeOf(url);
  const printed = await call(forge, place, forge.view(url));
  if (printed.kind !== 'printed') return printed;
  const [found] = parse(forge, `[${printed.text}]`);
  if (found === undefined) return failed('pull request', `${forge.program} printed no pull request`);
  return { kind: 'pull-request', url, state: found.state };
}

/** `pr-command` runs again after a crash: the key lets it find what it opened before. */
async function openByCommand(
  place: PullRequestPlace,
  script: ResolvedScript,
  asked: PullRequestAsked,
): Promise<Opened> {
  const { request, branch, url } = asked;
  if (url !== undefined) return { kind: 'pull-request', url, state: 'open' };
  const { runProgram, cwd, signal } = place;
  const body = join(cwd, 'pr-body.md');
  writeFileSync(body, request.body);
  const env = {
    ...place.env,
    ...script.values,
    NIGHTSHIFT_BRANCH: branch,
    NIGHTSHIFT_BASE_BRANCH: request.into ?? '',
    NIGHTSHIFT_TITLE: request.title,
    NIGHTSHIFT_BODY_FILE: body,
    NIGHTSHIFT_KEY: request.key,
  };
  const program = { file: script.shell ?? 'sh', args: ['-e', '-c', script.source] };
  const ran = await runProgram({ ...program, cwd, env, signal });
  rmSync(body, { force: true });
  const printed = readResult(ran, '`pr-command`', signal);
  if (printed.kind !== 'printed') return printed;
  const opened = lastAddress(printed.text);
  return opened === undefined
    ? failed('pr-command', '`pr-command` printed no address of a pull request')
    : { kind: 'pull-request', url: opened, state: 'open' };
}

function lastAddress(text: string): string | undefined {
  return text.match(/https?:\/\/[^\s"'<>]+/g)?.at(-1);
}

/** How one forge's program is called. */
interface Forge {
  readonly program: 'gh' | 'glab';
  readonly list: (branch: string) => readonly string[];
  readonly create: (asked: PullRequestAsked) => readonly string[];
  readonly view: (url: string) => readonly string[];
}

function forgeOf(address: string): Forge {
  const repository = repositoryOf(address);
  const repo = repository === undefined ? [] : ['--repo', repository.name];
  return repository?.host.includes('gitlab') ? gitlab(repo) : github(repo);
}

function github(repo: readonly string[]): Forge {
  const fields = ['--json', 'number,url,state,headRefOid'];
  return {
    program: 'gh',
    list: (branch) => ['pr', 'list', ...repo, '--head', branch, '--state', 'all', ...fields],
    create: ({ branch, request: { into, title } }) => {
      const base = into === undefined ? [] : ['--base', into];
      return ['pr', 'create', ...repo, '--head', branch, ...base, '--title', title, '--body-file', '-'];
    },
    view: (url) => ['pr', 'view', url, ...fields],
  };
}

function gitlab(repo: readonly string[]): Forge {
  return {
    program: 'glab',
    list: (branch) => ['mr', 'list', ...repo, '--source-branch', branch, '--all', '--output', 'json'],
    create: ({ branch, request: { into, title, body } }) => {
      const base = into === undefined ? [] : ['--target-branch', into];
      return [
        'mr',
        'create',
        ...repo,
        '--source-branch',
        branch,
        ...base,
        '--title',
        title,
        '--description',
        body,
        '--yes',
      ];
    },
    view: (url) => {
      const [, repository = '', number = url] = /^https?:\/\/(.+?)\/-\/merge_requests\/(\d+)/.exec(url) ?? [];
      return ['mr', 'view', number, '--repo', repository, '--output', 'json'];
    },
  };
}

/** The host, and the name that `--repo` takes. Undefined for a path: the program looks at the remotes of the desk. */
function repositoryOf(address: string): { readonly host: string; readonly name: string } | undefined {
  const [, host, path] =
    /^(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/*$/.exec(address) ??
    /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+?)(?:\.git)?\/*$/.exec(address) ??
    [];
  return host === undefined || !path?.includes('/') ? undefined : { host, name: `${host}/${path}` };
}

/** One with this very commit, whatever its state; else an open one. A closed one is not opened again. */
async function findPullRequest(
  forge: Forge,
  place: PullRequestPlace,
  branch: string,
  commit: string,
): Promise<Opened | undefined> {
  const printed = await call(forge, place, forge.list(branch));
  if (printed.kind !== 'printed') return printed;
  const all = parse(forge, printed.text);
  const found = all.find((each) => each.commit === commit) ?? all.find(({ state }) => state === 'open');
  return found && { kind: 'pull-request', url: found.url, state: found.state };
}

async function call(
  { program }: Forge,
  { runProgram, cwd, env, signal }: ProgramPlace,
  args: readonly string[],
  input?: string,
): Promise<Printed> {
  const ran = await runProgram({
    file: program,
    args,
    cwd,
    env,
    signal,
    ...(input === undefined ? {} : { input }),
  });
  return readResult(ran, program, signal);
}

type Printed = { readonly kind: 'printed'; readonly text: string } | DeliveryFailure;

function readResult(ran: ProgramResult, program: string, signal: AbortSignal): Printed {
  if (signal.aborted) return { kind: 'aborted' };
  if (ran.kind === 'missing') {
    const remedy = `install ${program} and log in, or set \`pr-command\``;
    return { kind: 'trouble', trouble: { reason: `${program} is not installed`, remedy } };
  }
  if (ran.kind === 'not-run') return { kind: 'trouble', trouble: { reason: ran.reason } };
  if (ran.code === 0) return { kind: 'printed', text: ran.stdout };
  return failureFrom('pull request', `${program} failed`, ran.stderr || ran.stdout);
}

interface Listed {
  readonly url: string;
  readonly state: string;
  readonly commit: string | undefined;
}

/** What `gh` and `glab` print as JSON; anything else lists nothing. */
function parse({ program }: Forge, text: string): Listed[] {
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: Record<string, unknown>) => {
    const url = program === 'gh' ? entry.url : entry.web_url;
    const commit = program === 'gh' ? entry.headRefOid : entry.sha;
    if (typeof url !== 'string') return [];
    const state = String(entry.state ?? '').toLowerCase();
    return [
      { url, state: state === 'opened' ? 'open' : state, commit: typeof commit === 'string' ? commit : undefined },
    ];
  });
}
