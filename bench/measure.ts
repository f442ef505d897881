import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));

/** The program as users run it; npm runs its scripts in the project's folder. */
export const NIGHTSHIFT = resolve('dist/cli/main.js');

/** A program of this folder that runs in a process of its own. */
export const program = (name: string): string => join(HERE, 'programs', `${name}.js`);

export interface Ended {
  readonly ms: number;
  readonly firstOutputMs: number;
  readonly stdout: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The exit codes that are expected; 0 without it. */
  readonly codes?: readonly number[];
  /** The signal that it is expected to end by, if not by itself. */
  readonly signal?: NodeJS.Signals;
  readonly onOutput?: (stdout: string, child: ChildProcess) => void;
}

/** Runs a program to its end; an exit code or signal that is not expected is a broken benchmark. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return new Promise((end, reject) => {
    const started = performance.now();
    let firstOutputMs = Number.NaN;
    let stdout = '';
    let stderr = '';
    const child = spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env } });
    child.stdin.end(options.input ?? '');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout === '') firstOutputMs = performance.now() - started;
      stdout += text;
      options.onOutput?.(stdout, child);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const isExpected = options.signal ? signal === options.signal : (options.codes ?? [0]).includes(code ?? -1);
      if (isExpected) end({ ms: performance.now() - started, firstOutputMs, stdout });
      else reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal}\n${stderr}${stdout}`));
    });
  });
}

export const node = (args: readonly string[], options?: RunOptions) => run(process.execPath, args, options);

/** One after the other in every round, so that a noisy minute is everybody's; the median for each. */
export async function takeTurns<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(contestants) as Name[];
  const taken = new Map(names.map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) taken.get(name)!.push(await contestants[name]());
  }
  return Object.fromEntries(names.map((name) => [name, medianOf(taken.get(name)!)])) as Record<Name, number>;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

export const ms = (value: number): string =>
  value < 10_000 ? `${value.toFixed(value < 100 ? 1 : 0)} ms` : `${(value / 1000).toFixed(1)} s`;
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
