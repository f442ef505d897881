import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { unlessAborted } from '../../core/model/unless-aborted.ts';
import { type Mask, NO_MASK } from '../../core/text/mask.ts';
import type { Sandbox } from '../../core/workspace/sandbox.ts';
import { keepDescriptors } from './descriptors.ts';
import { drain } from './drain.ts';
import { guardGroup, readyGuard, releaseGroup } from './guard.ts';
import { endMarked, endTagged, signalTagged } from './leftovers.ts';
import { lastLines, Output, type OutputTail, type Recent, type StreamName } from './output.ts';
import type { Exit } from './posix-spawn.ts';
import { markIn, type Tag, tagProcess } from './process-tag.ts';
import { confined, findConfiner } from './sandbox.ts';
import { gated, type RunningProgram, start } from './start.ts';
import { type StartFailure, whyNotStarted, whyUnstartable } from './start-failure.ts';

export { shellOf } from './shells.ts';
export { SHELL } from './start.ts';

/** EX_TEMPFAIL of sysexits.h: try later, it is not the item's fault (rule X5). */
const TRY_LATER = 75;

export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: standard input is /dev/null. A stream stays open as long as the program runs. */
  readonly input?: string | Readable;
  readonly signal: AbortSignal;
  /** As it comes, split anywhere except inside a character. */
  readonly onOutput?: (stream: StreamName, text: string) => void;
  /** How much of the end of each stream is kept. */
  readonly keepBytes: number;
  /** For the end of its output, which may become a reason. Absent: its environment has no secrets. */
  readonly mask?: Mask;
  /** What it can see, write and reach. Absent: all that you can. */
  readonly sandbox?: Sandbox | undefined;
}

type Ending = Exit | { readonly kind: 'aborted' } | StartFailure;

export type ProcessResult = Ending & {
  readonly stdout: OutputTail;
  readonly stderr: OutputTail;
  /** In order of arrival, as far as two pipes can tell. */
  readonly recent: Recent;
};

let beforeStart: (() => Promise<void>) | undefined;

/** Waits right before each program begins: the caller may have lost the right to it since it asked for it. */
export function beforeEachStart(wait: () => Promise<void>): Disposable {
  beforeStart = wait;
  return {
    [Symbol.dispose]: () => {
      beforeStart = undefined;
    },
  };
}

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 1500;
/** For the kernel to end killed processes. One that hangs in a dead network disk never ends. */
const KILL_MS = 5000;
const POLL_MS = 20;

/**
 * Runs a program in its own process group until its whole tree has ended. Does not throw for what the program does.
 * On abort: SIGTERM, a short grace period, SIGKILL. Then the processes that left the group, found by tag or mark.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  const output = new Output(request.keepBytes, request.mask ?? NO_MASK, request.onOutput);
  const ending = await run(request, output);
  output.end();
  const kept = output.kept();
  return { ...(request.sandbox === undefined ? ending : confinedEnding(ending, kept.stderr.text)), ...kept };
}

async function run(request: ProcessRequest, output: Output): Promise<Ending> {
  if (request.signal.aborted) return { kind: 'aborted' };
  const wanted = await confinedRequest(request);
  if ('kind' in wanted) return wanted;
  const program = gated(wanted);
  const unstartable = whyUnstartable(program);
  if (unstartable !== undefined) return unstartable;
  readyGuard();
  let started: RunningProgram;
  try {
    started = await start(program);
  } catch (error) {
    return whyNotStarted(error as NodeJS.ErrnoException, request);
  }
  const { group, stdin, exit } = started;
  // Behind the gate: everything it starts inherits the tag.
  const tag = tagProcess(group, request.env);
  const begun = performance.now();
  const ended = collect(started, output);
  try {
    await guardGroup(group, tag);
  } catch (error) {
    stdin.destroy();
    await exit;
    return whyNotStarted(error as Error, request);
  }
  if (beforeStart) await unlessAborted(beforeStart(), request.signal).catch(() => {});
  // Stopped meanwhile: behind the gate, nothing has begun.
  if (request.signal.aborted) stdin.destroy();
  else if (request.input === undefined) stdin.say('\n');
  else if (typeof request.input === 'string') stdin.stream().end(`\n${request.input}`);
  else {
    const stream = stdin.stream();
    stream.write('\n');
    request.input.pipe(stream);
  }

  const aborted = await abortedBefore(exit, request.signal);
  if (aborted) await endGently(group, request.sandbox && tag);
  signalGroup(group, 'SIGKILL');
  if (aborted) await within(KILL_MS, exit);
  if (tag !== undefined) await endTagged(tag, { leader: group, ms: performance.now() - begun });
  if (aborted || tag === undefined) await endEscaped(request.env);
  releaseGroup(group);
  await drain(ended);
  for (const stream of [stdin, started.stdout, started.stderr]) stream.destroy();
  return aborted ? { kind: 'aborted' } : exit;
}

async function confinedRequest(request: ProcessRequest): Promise<ProcessRequest | StartFailure> {
  const { sandbox } = request;
  if (sandbox === undefined) return request;
  const confiner = await findConfiner();
  if (!('file' in confiner)) return { kind: 'not-started', reason: confiner.reason, fault: 'system' };
  keepDescriptors();
  return { ...request, ...confined(confiner, sandbox, request) };
}

/** Bubblewrap says so if it can't start the program, and else passes on how the program ended. */
function confinedEnding(ending: Ending, stderr: string): Ending {
  if (ending.kind !== 'exited' || ending.code !== 1 || !stderr.startsWith('bwrap: ')) return ending;
  return { kind: 'not-started', reason: `the sandbox can't be made: ${stderr.trim()}`, fault: 'system' };
}

/** Resolves when both streams have ended or were destroyed. */
function collect({ stdout, stderr }: RunningProgram, output: Output): Promise<unknown> {
  stdout.on('data', (bytes: Buffer) => output.add('stdout', bytes));
  stderr.on('data', (bytes: Buffer) => output.add('stderr', bytes));
  return Promise.all([closed(stdout), closed(stderr)]);
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.on('error', () => {}).once('close', resolve));
}

async function abortedBefore(exit: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await unlessAborted(exit, signal);
    return false;
  } catch (error) {
    if (!signal.aborted) throw error;
    return true;
  }
}

/**
 * The leader may be gone at once while others of the group still clean up. `inside`: the leader confines the others
 * and takes them along when it ends, so only they get the signal.
 */
async function endGently(group: number, inside: Tag | undefined): Promise<void> {
  if (inside === undefined) signalGroup(group, 'SIGTERM');
  else await signalTagged(inside, { signal: 'SIGTERM', except: group });
  for (let waited = 0; waited < GRACE_MS && signalGroup(group, 0); waited += POLL_MS) await delay(POLL_MS);
}

async function endEscaped(env: ProcessRequest['env']): Promise<void> {
  const { NIGHTSHIFT_KEY: key, NIGHTSHIFT_ROLE: role } = env;
  const shiftFolder = markIn(env);
  if (shiftFolder === undefined || key === undefined) return;
  await endMarked({ shiftFolder, key, ...(role === undefined ? {} : { role }) });
}

/** Whether the group has processes. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, over]);
  clearTimeout(timer);
}

/** Whether the program itself asks to try later. */
export function asksToTryLater(ended: ProcessResult): boolean {
  return ended.kind === 'exited' && ended.code === TRY_LATER;
}

/** `exit code 3: no such page`, with the end of what was printed. */
export function howItEnded(ended: Exclude<ProcessResult, { kind: 'aborted' }>, from: keyof Recent = 'both'): string {
  if (ended.kind === 'not-started') return ended.reason;
  const end = ended.kind === 'exited' ? `exit code ${ended.code}` : `ended by ${ended.signal}`;
  const tail = lastLines(ended.recent[from]);
  return tail === '' ? `${end}, and it printed nothing` : `${end}: ${tail}`;
}
