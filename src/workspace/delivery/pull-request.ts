import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResolvedScript } from '../../core/model/model.ts';
import type { DeliveryFailure, DeliveryRequest } from '../../core/workspace/workspaces.ts';
import { failed, failureFrom } from './failure.ts';
import { type Forge, forgeOf } from './forges.ts';

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
  /** The default branch of that repository; undefined: it has none. */
  readonly defaultBranch: () => Promise<string | undefined>;
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
  const { into, title, body } = asked.request;
  const base = into ?? (forge.needsBase ? await place.defaultBranch() : undefined);
  const created = await call(forge, place, forge.create({ branch: asked.branch, base, title, body }), body);
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
  const [found] = forge.read(printed.text);
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

/** One with this very commit, whatever its state; else an open one. A closed one is not opened again. */
async function findPullRequest(
  forge: Forge,
  place: PullRequestPlace,
  branch: string,
  commit: string,
): Promise<Opened | undefined> {
  const printed = await call(forge, place, forge.list(branch));
  if (printed.kind !== 'printed') return printed;
  const all = forge.read(printed.text);
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
