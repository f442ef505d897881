import type { ShiftPaths } from '../app/find-shift.ts';
import { type DetachedRun, startDetached } from '../app/run/detach.ts';
import type { RunSettings } from '../app/run/plan-run.ts';
import { EXIT } from '../core/model/errors.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';
import { wordsIn } from './command-line.ts';
import type { Io } from './io.ts';
import type { Options } from './program.ts';

/** Options for this terminal; the run does not get them. */
const OWN = ['detach', 'json', 'plain', 'command'];

/**
 * Starts a run in the background with `options.command` (default: `start`). Returns the exit code; undefined if
 * everything is done and no run was started.
 */
export async function detach(
  io: Io,
  paths: ShiftPaths,
  settings: RunSettings,
  options: Options,
): Promise<number | undefined> {
  const flags = Object.fromEntries(Object.entries(options).filter(([name]) => !OWN.includes(name)));
  const words = [options.command ?? 'start', paths.name, '--plain', ...wordsIn(flags)];
  const detached = await startDetached(paths, settings, words, io);
  switch (detached.kind) {
    case 'complete':
      return undefined;
    case 'ended':
      if (options.json) io.print(JSON.stringify({ type: 'error', code: 'locked', message: detached.output }));
      else io.warn(detached.output);
      return detached.exitCode;
    case 'running':
      if (options.json) io.print(JSON.stringify(detached.begun));
      else tell(io, paths, detached.begun);
      return EXIT.done;
  }
}

function tell(io: Io, { name, root }: ShiftPaths, { pid, since, log, limits, warnings, paused }: DetachedRun): void {
  for (const warning of warnings) io.warn(`warning: ${oneLine(warning)}`);
  if (limits !== null) io.print(`limits: ${limits}`);
  io.print(`${name} runs in the background: process ${pid} since ${localTime(since, io.now())}`);
  if (paused !== null) io.print(`paused since ${localTime(paused, io.now())}; \`nightshift resume ${name}\` continues`);
  io.print(`log: ${log.replace(`${root}/`, '')}`);
  io.print(`\`nightshift attach ${name}\` shows it, \`nightshift stop ${name}\` ends it.`);
}
