import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { guardGroup, releaseGroup } from './guard.ts';
import { endMarked } from './leftovers.ts';
import { type NotStarted, whyNotStarted, whyUnstartable } from './not-started.ts';
import { type Kept, lastLines, Output, type StreamName } from './output.ts';
import type { Exit } from './posix-spawn.ts';
import { gated, type Started, start } from './start.ts';

export { SHELL } from './start.ts';

export interface ProcessRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: standard input is /dev/null. A stream: a conversation, which goes on as long as the program runs. */
  readonly input?: string | Readable;
  readonly signal: AbortSignal;
  /** As it comes, cut anywhere but inside a character. */
  readonly onOutput?: (stream: StreamName, text: string) => void;
  /** How much of the end of each stream is kept. */
  readonly keepBytes: number;
}

type Ending = Exit | { readonly kind: 'aborted' } | NotStarted;

export type Ended = Ending & {
  readonly stdout: Kept;
  readonly stderr: Kept;
  /** The last of both, in the order in which it came, as far as two pipes tell. */
  readonly recent: string;
};

/** Between SIGTERM and SIGKILL. */
const GRACE_MS = 1500;
/** For output that is still in the pipes when the program has exited; who holds them longer has escaped. */
const DRAIN_MS = 1000;
/** For the kernel to end what was killed; a process that hangs in a dead network disk never goes. */
const KILL_MS = 5000;
const POLL_MS = 20;

/**
 * Runs a program in a process group of its own, to the end of its whole tree. Never throws for what the program does.
 * When the signal aborts: SIGTERM, a short grace, SIGKILL, and then whatever carries the item's mark.
 */
export async function runProcess(request: ProcessRequest): Promise<Ended> {
  const output = new Output(request.keepBytes, request.onOutput);
  const ending = await run(request, output);
  output.end();
  return { ...ending, ...output.kept() };
}

async function run(request: ProcessRequest, output: Output): Promise<Ending> {
  if (request.signal.aborted) return { kind: 'aborted' };
  const program = gated(request);
  const unstartable = whyUnstartable(program);
  if (unstartable !== undefined) return unstartable;
  let started: Started;
  try {
    started = await start(program);
  } catch (error) {
    return whyNotStarted(error as NodeJS.ErrnoException, request);
  }
  const { group, stdin, exit } = started;
  const ended = collect(started, output);
  try {
    await guardGroup(group);
  } catch (error) {
    stdin.destroy();
    await exit;
    return whyNotStarted(error as Error, request);
  }
  // Stopped meanwhile: behind the gate nothing has begun, and nothing will.
  if (request.signal.aborted) stdin.destroy();
  else if (request.input === undefined) stdin.say('\n');
  else if (typeof request.input === 'string') stdin.stream().end(`\n${request.input}`);
  else {
    const stream = stdin.stream();
    stream.write('\n');
    request.input.pipe(stream);
  }

  const aborted = await abortedBefore(exit, request.signal);
  if (aborted) await endGently(group);
  signalGroup(group, 'SIGKILL');
  if (aborted) {
    await endEscaped(request.env);
    await within(KILL_MS, exit);
  }
  releaseGroup(group);
  await within(DRAIN_MS, ended);
  for (const stream of [stdin, started.stdout, started.stderr]) stream.destroy();
  return aborted ? { kind: 'aborted' } : exit;
}

/** Resolves when both streams have ended, or were destroyed. */
function collect({ stdout, stderr }: Started, output: Output): Promise<unknown> {
  stdout.on('data', (bytes: Buffer) => output.add('stdout', bytes));
  stderr.on('data', (bytes: Buffer) => output.add('stderr', bytes));
  return Promise.all([closed(stdout), closed(stderr)]);
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.on('error', () => {}).once('close', resolve));
}

async function abortedBefore(exit: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  let onAbort: () => void = () => {};
  const abort = new Promise<boolean>((resolve) => {
    onAbort = () => resolve(true);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([exit.then(() => false), abort]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The leader may be gone at once, and others of the group still be putting their things in order. */
async function endGently(group: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  for (let waited = 0; waited < GRACE_MS && signalGroup(group, 0); waited += POLL_MS) await delay(POLL_MS);
}

async function endEscaped(env: ProcessRequest['env']): Promise<void> {
  const { NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: key } = env;
  if (shiftFolder !== undefined && key !== undefined) await endMarked({ shiftFolder, key });
}

/** Whether there is anybody in the group. */
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

/** `exit code 3: no such page`, with the end of what was printed. */
export function howItEnded(ended: Exclude<Ended, { kind: 'aborted' }>, printed = ended.recent): string {
  if (ended.kind === 'not-started') return ended.reason;
  const end = ended.kind === 'exited' ? `exit code ${ended.code}` : `ended by ${ended.signal}`;
  const tail = lastLines(printed);
  return tail === '' ? `${end}, and it printed nothing` : `${end}: ${tail}`;
}
