import type { ShiftPaths } from '../../app/find-shift.ts';
import { findNext } from '../../app/next-command.ts';
import { currentRun, followRun } from '../../app/run/follow-run.ts';
import { hearTranscripts } from '../../app/run/hear-transcripts.ts';
import { EXIT } from '../../core/model/errors.ts';
import { nextLine } from '../../views/next-line.ts';
import { attachedEndLines, type RunFinished } from '../../views/run-end.ts';
import { chooseShift } from '../choose-shift.ts';
import { ONLY_WATCHING, viewEvents } from '../event-view.ts';
import type { Io } from '../io.ts';
import { LiveTerminal } from '../live-terminal.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

/** Shows a run of another process. The exit code is that of the run. Ctrl-C only stops watching. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const current = currentRun(paths);
  if (!current) return await notRunning(io, paths, options);
  using signals = new StopSignals();
  const end = await watch(io, paths, { run: current.run, signal: signals.drain }, options);
  if (signals.drain.aborted) {
    const goesOn = `${paths.name} continues in process ${current.pid}. \`nightshift stop ${paths.name}\` ends it.`;
    if (!options.json) io.print(goesOn);
    return EXIT.interrupted;
  }
  if (!options.json) {
    for (const line of attachedEndLines(paths.name, end, await findNext(paths, io))) io.print(line);
  }
  return end?.exitCode ?? EXIT.stopped;
}

async function notRunning(io: Io, paths: ShiftPaths, { json }: Options): Promise<number> {
  if (json) {
    io.print(JSON.stringify({ shift: paths.name, running: null }));
    return EXIT.done;
  }
  const next = await findNext(paths, io);
  const start = next ? nextLine(next) : `\`nightshift start ${paths.name}\` starts it`;
  io.print(`${paths.name} is not running. ${start}.`);
  return EXIT.done;
}

/** How the run ended; undefined if it was killed, or if the watching was stopped. */
async function watch(
  io: Io,
  paths: ShiftPaths,
  { run, signal }: { readonly run: string; readonly signal: AbortSignal },
  options: Options,
): Promise<RunFinished | undefined> {
  using view = await viewEvents(io, options, { root: paths.root, ctrlC: ONLY_WATCHING });
  const live = view instanceof LiveTerminal ? view : undefined;
  let end: RunFinished | undefined;
  for await (const followed of followRun(paths, run, signal)) {
    if (!followed) {
      if (live) await hearTranscripts(paths, live.state);
      continue;
    }
    const { event, isPast } = followed;
    if (live && isPast) live.past(event);
    else view.event(event);
    if (event.type === 'run:finished') end = event;
  }
  return end;
}
