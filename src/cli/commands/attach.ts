import { findNext } from '../../app/next-command.ts';
import { followLines, parseEvent } from '../../app/run/follow-run.ts';
import { hearTranscripts } from '../../app/run/hear-transcripts.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { filesOfRun } from '../../store/folder/journal/journal-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder, type Holder } from '../../store/folder/run-lock.ts';
import { nextLine } from '../../views/next-line.ts';
import { endText } from '../../views/plain.ts';
import { chooseShift } from '../choose-shift.ts';
import { ONLY_WATCHING, viewEvents } from '../event-view.ts';
import type { Io } from '../io.ts';
import { LiveTerminal } from '../live-terminal.ts';
import type { Options } from '../program.ts';

type Finished = Extract<NightshiftEvent, { type: 'run:finished' }>;

/** Shows a run that another process does, by its journal. Its exit code is the run's; Ctrl-C ends only the looking on. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const holder = currentHolder(paths.runLock);
  if (!holder) {
    if (options.json) io.print(JSON.stringify({ shift: paths.name, running: null }));
    else {
      const next = await findNext(paths, io);
      const start = next ? nextLine(next) : `\`nightshift start ${paths.name}\` starts it`;
      io.print(`${paths.name} is not being run. ${start}.`);
    }
    return EXIT.done;
  }
  const left = new AbortController();
  const leave = () => left.abort();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, leave);
  const end = await watch(io, paths, holder, options, left.signal);
  if (left.signal.aborted) {
    const goesOn = `${paths.name} goes on in process ${holder.pid}. \`nightshift stop ${paths.name}\` ends it.`;
    if (!options.json) io.print(goesOn);
    return EXIT.interrupted;
  }
  if (!options.json) for (const line of await endLines(io, paths, end)) io.print(line);
  return end?.exitCode ?? EXIT.stopped;
}

async function watch(
  io: Io,
  paths: ShiftPaths,
  { run }: Holder,
  options: Options,
  signal: AbortSignal,
): Promise<Finished | undefined> {
  using view = viewEvents(io, options, ONLY_WATCHING);
  const live = view instanceof LiveTerminal ? view : undefined;
  let isPast = true;
  let end: Finished | undefined;
  // What is written again after a loss was seen already.
  let seen = 0;
  for await (const found of followJournal(paths, run, signal)) {
    if (found.length === 0) {
      isPast = false;
      if (live) await hearTranscripts(paths, live.state);
    }
    for (const event of found.flatMap(({ lines }) => lines.flatMap((line) => parseEvent(line) ?? []))) {
      // What people edit beside a run has no run of its own; before this one began it is not of interest.
      if (event.run !== run && (event.run !== '' || isPast)) continue;
      if (event.run === run && event.seq <= seen) continue;
      if (event.run === run) seen = event.seq;
      if (live && isPast) live.past(event);
      else view.event(event);
      if (event.type === 'run:finished') end = event;
    }
  }
  return end;
}

/** From the file on in which the run began. */
async function* followJournal(
  paths: ShiftPaths,
  run: string,
  signal: AbortSignal,
): AsyncGenerator<{ lines: string[] }[]> {
  const older = filesOfRun(paths.journal, run).slice(0, -1);
  for (const file of older) yield* followLines([{ file, tag: '' }], paths, undefined, signal);
  yield* followLines([{ file: paths.journal, tag: '' }], paths, run, signal);
}

async function endLines(io: Io, paths: ShiftPaths, end: Finished | undefined): Promise<string[]> {
  const { name } = paths;
  const next = await findNext(paths, io);
  const more = next ? [`${nextLine(next)}.`] : [];
  if (!end) return [[`${name}: the run was killed.`, ...more].join(' ')];
  const { total, completed, failed, remaining } = end;
  const counts = `${total} items, ${completed} completed, ${failed} failed, ${remaining} remaining.`;
  return [
    `${name}: the run has ${endText(end)}.${total === undefined ? '' : ` ${counts}`}`,
    `\`nightshift status ${name}\` says more.`,
    ...more,
  ];
}
