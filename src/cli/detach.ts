import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { planRun, type RunSettings } from '../app/run/plan-run.ts';
import { EXIT, NightshiftError } from '../core/model/errors.ts';
import { countItems } from '../core/schedule/plan.ts';
import { openInside } from '../store/folder/files/inside.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { lastHolder, refuseSecondRun } from '../store/folder/run-lock.ts';
import { wordsIn } from './command-line.ts';
import type { Io } from './io.ts';
import type { Options } from './program.ts';

/** The program itself. */
export const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
/** Those of `start` that are about this terminal, not about the run. */
const NOT_HANDED_ON = ['detach', 'json', 'plain'];
const LOOK_EVERY_MS = 20;
/** A table of a million rows takes seconds to be read. */
const BEGUN_WITHIN_MS = 30_000;

/**
 * Runs the shift in a process of its own, in a session of its own, so that a closed terminal does not end it. What is
 * wrong with the input is told here, as `start` would; it returns when the run holds its lock. Undefined: all is done,
 * and there is nothing to be left in the background.
 */
export async function detach(
  io: Io,
  paths: ShiftPaths,
  asked: RunSettings,
  options: Options,
): Promise<number | undefined> {
  const { snapshot } = await planRun(paths, asked, io);
  const { total, completed } = countItems(snapshot);
  if (completed === total) return undefined;
  refuseSecondRun(paths.runLock, paths.name);
  const log = openInside(paths.folder, paths.runLog, constants.O_WRONLY | constants.O_APPEND);
  const begin = fstatSync(log).size;
  const child = spawn(process.execPath, [MAIN, 'start', paths.name, '--plain', ...handedOn(options)], {
    cwd: io.cwd,
    env: io.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const code = await untilHeld(child, paths);
  const said = () => readFileSync(paths.runLog).subarray(begin).toString('utf8').trimEnd();
  if (code !== undefined) return relay(io, code, said(), options);
  const { warnings, limits } = await untilBegun(child, paths.name, said);
  child.unref();
  const { pid, since, run } = lastHolder(paths.runLock)!;
  if (options.json) {
    io.print(JSON.stringify({ shift: paths.name, pid, since, run, log: paths.runLog, limits, warnings }));
    return EXIT.done;
  }
  for (const warning of warnings) io.warn(`warning: ${warning}`);
  if (limits !== null) io.print(`limits: ${limits}`);
  io.print(`${paths.name} runs in the background: process ${pid} since ${since}`);
  io.print(`log: ${paths.runLog.replace(`${paths.root}/`, '')}`);
  io.print(`\`nightshift attach ${paths.name}\` shows it at work, \`nightshift stop ${paths.name}\` ends it.`);
  return EXIT.done;
}

function handedOn(options: Options): string[] {
  const own = Object.entries(options).filter(([name]) => !NOT_HANDED_ON.includes(name));
  return wordsIn(Object.fromEntries(own));
}

/** Undefined when the run has taken its lock (and may have ended since), else the exit code that it ended with. */
async function untilHeld(child: ChildProcess, paths: ShiftPaths): Promise<number | undefined> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (;;) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (lastHolder(paths.runLock)?.pid === child.pid) return undefined;
    if (failure) throw new NightshiftError('locked', `the run can't be started: ${failure.message}`);
    if (hasEnded) return child.exitCode ?? EXIT.stopped;
    await sleep(20);
  }
}

interface Begun {
  readonly warnings: string[];
  readonly limits: string | null;
}

/** What the run says before its first item, as its log has it: what it warns of, and how it is limited. */
async function untilBegun(child: ChildProcess, shift: string, said: () => string): Promise<Begun> {
  const hasBegun = () => /\n./.test(said().split(`${shift}: `)[1] ?? '');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  for (let waited = 0; !hasBegun() && !hasEnded() && waited < BEGUN_WITHIN_MS; waited += LOOK_EVERY_MS) {
    await sleep(LOOK_EVERY_MS);
  }
  // What belongs together is written line by line.
  await sleep(LOOK_EVERY_MS);
  const lines = said().split('\n');
  const of = (prefix: string) => lines.flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []));
  return { warnings: of('warning: '), limits: of('limits: ')[0] ?? null };
}

/** It ended before it began: its last words and its exit code are ours. */
function relay(io: Io, code: number, said: string, { json }: Options): number {
  if (json) io.print(JSON.stringify({ type: 'error', code: 'locked', message: said }));
  else io.warn(said);
  return code;
}
