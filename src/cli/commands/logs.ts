import { openAndCheck } from '../../app/open-shift.ts';
import { parseRow } from '../../app/rows.ts';
import { followLines, parseEvent } from '../../app/run/follow-run.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { itemKey } from '../../core/model/identity.ts';
import { olderFiles } from '../../store/folder/journal/journal-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { endText, plainLines } from '../../views/plain.ts';
import { type Said, TranscriptLines } from '../../views/transcript-lines.ts';
import { chooseShift } from '../choose-shift.ts';
import { ONLY_WATCHING } from '../event-view.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** The journal for a reader, or what was said about one row; `-f` goes on until the run that is going on has ended. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  if (options.prompts && options.row === undefined) {
    throw new NightshiftError('usage', '--prompts is only for --row', 'add --row N');
  }
  const paths = await chooseShift(io, name);
  const run = options.follow ? currentHolder(paths.runLock)?.run : undefined;
  if (options.row === undefined) await printJournal(io, paths, run, options);
  else await printTranscripts(io, paths, options.row, run, options);
  return EXIT.done;
}

async function printJournal(io: Io, paths: ShiftPaths, run: string | undefined, options: Options): Promise<void> {
  const ctrlC = run === undefined ? '' : ONLY_WATCHING;
  for await (const found of wholeJournal(paths, run)) {
    for (const line of found.flatMap(({ lines }) => lines)) {
      const event = parseEvent(line);
      if (!event) continue;
      if (options.json) {
        io.print(line);
        continue;
      }
      const lines = event.type === 'run:finished' ? [`the run has ${endText(event)}`] : plainLines(event, ctrlC);
      for (const each of lines) io.print(`${event.at} ${each}`);
    }
  }
}

/** The files that it was before, and then the one that it is. */
async function* wholeJournal(paths: ShiftPaths, run: string | undefined): AsyncGenerator<{ lines: string[] }[]> {
  for (const { file } of olderFiles(paths.journal)) yield* followLines([{ file, tag: '' }], paths, undefined);
  yield* followLines([{ file: paths.journal, tag: '' }], paths, run);
}

async function printTranscripts(
  io: Io,
  paths: ShiftPaths,
  row: string,
  run: string | undefined,
  options: Options,
): Promise<void> {
  const { shift, snapshot } = await openAndCheck(paths);
  const id = snapshot.id(parseRow(row, snapshot.count));
  const sources = snapshot.tasks.flatMap((task) =>
    ['dev', 'qa'].map((role) => ({
      file: paths.transcript(task, itemKey(shift.identity, task, id), role),
      tag: task,
    })),
  );
  const view = new TranscriptLines(options.prompts === true);
  const waiting: { task: string; said: Said }[] = [];
  let isEmpty = true;
  // Who spoke first comes first, whichever file it is in.
  const print = () => {
    const inOrder = waiting.splice(0).sort((a, b) => Number(a.said.at > b.said.at) - Number(a.said.at < b.said.at));
    for (const { task, said } of inOrder) {
      if (options.json) io.print(JSON.stringify({ task, ...said }));
      else for (const line of view.of(task, said)) io.print(line);
    }
  };
  for await (const found of followLines(sources, paths, run)) {
    for (const { lines, tag: task } of found) {
      for (const said of lines.flatMap((line) => parseSaid(line) ?? [])) waiting.push({ task, said });
    }
    if (waiting.length > 0) isEmpty = false;
    if (found.length === 0) print();
  }
  print();
  if (isEmpty && !options.json) io.print(`Nothing was said about row ${row} of ${paths.name} yet.`);
}

function parseSaid(line: string): Said | undefined {
  try {
    const said = JSON.parse(line);
    const isSaid = typeof said?.text === 'string' || typeof said?.usage === 'object';
    return isSaid && typeof said.kind === 'string' ? said : undefined;
  } catch {
    return undefined;
  }
}
