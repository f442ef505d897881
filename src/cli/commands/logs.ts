import type { ShiftPaths } from '../../app/find-shift.ts';
import { currentRun, readJournal } from '../../app/run/follow-run.ts';
import { readTranscripts } from '../../app/run/read-transcripts.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { localTime } from '../../core/text/local-time.ts';
import { endText, plainLines } from '../../views/plain.ts';
import { RepeatedReasons } from '../../views/repeated-reasons.ts';
import { TranscriptLines } from '../../views/transcript-lines.ts';
import { chooseShift } from '../choose-shift.ts';
import { ONLY_WATCHING } from '../event-view.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Prints the journal, or what was said about one row. With `-f` until the current run has ended. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  if (options.prompts && options.row === undefined) {
    throw new NightshiftError('usage', '--prompts is only for --row', 'add --row N');
  }
  const paths = await chooseShift(io, name);
  const run = options.follow ? currentRun(paths)?.run : undefined;
  if (options.row === undefined) await printJournal(io, paths, run, options);
  else await printTranscripts(io, paths, run, options);
  return EXIT.done;
}

async function printJournal(io: Io, paths: ShiftPaths, run: string | undefined, { json }: Options): Promise<void> {
  const ctrlC = run === undefined ? '' : ONLY_WATCHING;
  const repeated = new RepeatedReasons();
  for await (const event of readJournal(paths, run)) {
    if (json) {
      io.print(JSON.stringify(event));
      continue;
    }
    const lines =
      event.type === 'run:finished' ? [`the run has ${endText(event)}`] : plainLines(repeated.shorten(event), ctrlC);
    const at = localTime(event.at, io.now());
    for (const line of lines) io.print(`${at} ${line}`);
  }
}

async function printTranscripts(io: Io, paths: ShiftPaths, run: string | undefined, options: Options): Promise<void> {
  const { row, json } = options;
  const view = new TranscriptLines({ withPrompts: options.prompts === true, now: io.now });
  let isEmpty = true;
  for await (const { line, ...session } of readTranscripts(paths, row, run)) {
    isEmpty = false;
    if (json) io.print(JSON.stringify({ task: session.task, ...line }));
    else for (const each of view.of(session, line)) io.print(each);
  }
  if (!json) for (const each of view.end()) io.print(each);
  if (isEmpty && !json) io.print(`There are no transcripts of row ${row} of ${paths.name} yet.`);
}
