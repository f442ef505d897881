import { realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { type ShiftPaths, shiftNames } from '../../app/find-shift.ts';
import type { RunSettings } from '../../app/run/plan-run.ts';
import type { EndedRun } from '../../app/run/run-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import { type RunRequest, shellWord } from '../../core/schedule/run-request.ts';
import { pageAgainLine } from '../../views/page-lines.ts';
import { requireLimit } from '../ask-limit.ts';
import { chooseShift } from '../choose-shift.ts';
import { requestOf } from '../command-line.ts';
import { type EventView, viewEvents } from '../event-view.ts';
import { openFleetOfRun } from '../fleet-of-run.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import type { PageBeside } from '../page-beside.ts';
import type { Options } from '../program.ts';
import { readSelectionFlags } from '../selection-flags.ts';
import { StopSignals } from '../stop-signals.ts';

type Settings = RunSettings & { readonly request: RunRequest };

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const limits = readLimitFlags(options);
  const selection = readSelectionFlags(options);
  const paths = await shiftToStart(io, name, options);
  const { agent, model, withoutFleet } = options;
  const { sample } = selection;
  await using fleet = await openFleetOfRun(io, paths, options);
  const repeatable = { ...options, seed: sample?.seed, ...fleet.again };
  const request = options.request ?? requestOf('start', repeatable);
  const settings: Settings = { agent, model, limits, ...selection, request, fleet: fleet.fleet, withoutFleet };
  if (sample && options.seed === undefined) io.warn(`sample: --seed ${sample.seed} picks the same rows again`);
  if (options.dryRun) {
    const { printDryRun } = await import('../print-dry-run.ts');
    return await printDryRun(io, paths, settings, options);
  }
  if (!options.json) await requireLimit(io, paths, settings);
  if (options.detach) {
    const { detach } = await import('../detach.ts');
    const exitCode = await detach({ ...io, cwd: paths.root, env: fleet.env }, paths, settings, repeatable);
    if (exitCode === EXIT.done && !options.json) await tellFolder(io, paths);
    if (exitCode !== undefined) return exitCode;
  }

  const result = await runInView(io, paths, options, settings);
  if (!options.json) await printClosing(io, paths, settings, result);
  if (result.hadPage && !options.json) io.print(pageAgainLine(paths.name));
  const { writeReport } = await import('../write-report.ts');
  // Without counts, the table can't be read: the run's own reason says why.
  const hasNothing = result.alreadyComplete || result.counts === undefined;
  const report = hasNothing ? undefined : await writeReport(io, paths);
  if (report !== undefined && !options.json) io.print(report);
  if (!options.json) await tellFolder(io, paths);
  return result.exitCode;
}

/** The commands that were printed work in the project; that of the demo is a folder below. */
async function tellFolder(io: Io, { root }: ShiftPaths): Promise<void> {
  // An agent may have removed the folder that the user is in; then `cwd` throws.
  const here = await (async () => realpath(io.cwd))().catch(() => root);
  const folder = relative(here, root);
  if (folder === '' || folder.startsWith('..')) return;
  io.print(`The commands above work in the project folder: cd ${shellWord(folder)}`);
}

/** A first try of a fleet needs no project: without a shift `demo`, it is the one that `nightshift demo` makes. */
async function shiftToStart(io: Io, name: string | undefined, { fleet }: Options): Promise<ShiftPaths> {
  if (name !== 'demo' || fleet !== 'try' || shiftNames(io).includes(name)) return chooseShift(io, name);
  const { findOrBuildDemo } = await import('../../app/demo/build-demo.ts');
  const { introLines } = await import('../demo/lines.ts');
  const paths = await findOrBuildDemo(io);
  for (const line of introLines({ folder: relative(io.cwd, paths.root) })) io.warn(line);
  return paths;
}

/** The view is gone before anything else is printed, also when the run throws. */
export async function runInView(
  io: Io,
  paths: ShiftPaths,
  options: Options,
  settings: Partial<Settings> = {},
): Promise<EndedRun & { readonly hadPage: boolean }> {
  // Not for `--dry-run`: a third of all modules.
  const { runFolder } = await import('../../app/run/run-shift.ts');
  using view = await viewEvents(io, options, { root: paths.root });
  using page = options.view ? await serveBeside(io, paths.name, view) : undefined;
  const listeners = { onEvent: view.event.bind(view), onTranscript: view.heard.bind(view) };
  const ended = await runFolder(paths, { ...settings, ...listeners, openStop: () => new StopSignals() }, io);
  return { ...ended, hadPage: page?.isServed === true };
}

async function serveBeside(io: Io, shift: string, view: EventView): Promise<PageBeside> {
  const { PageBeside } = await import('../page-beside.ts');
  return new PageBeside(io, shift, view);
}

async function printClosing(io: Io, paths: ShiftPaths, settings: Settings, result: EndedRun): Promise<void> {
  const { readClosing } = await import('../../app/run/closing.ts');
  const { closingLines } = await import('../../views/run-end.ts');
  const isFinished = result.exitCode === EXIT.done || result.exitCode === EXIT.failedItems;
  const closing = await readClosing(paths, result, settings, io);
  for (const line of closingLines({ shift: paths.name, isFinished, ...result }, closing)) io.print(line);
}
