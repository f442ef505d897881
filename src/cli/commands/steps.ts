import { findTask } from '../../app/find-task.ts';
import { readHistory } from '../../app/history.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import type { StepsChange } from '../../core/folds/checkpoint.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { versionOf } from '../../core/model/identity.ts';
import { diffLines } from '../../core/text/line-diff.ts';
import { parseTask, stepTexts } from '../../formats/task.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { Journal } from '../../store/folder/journal/journal.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { listed } from '../../views/plain.ts';
import { oneLine, printable } from '../../views/printable.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Rule L4: the versions of a task's Steps, where each came from, and the way back. */
export async function run(io: Io, [name = '', taskName = '']: readonly string[], options: Options): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  const { shift } = await openAndCheck(paths);
  const task = findTask(shift, taskName);
  const files = new ShiftFiles(paths);
  const versions = await files.versions.all(task.name);
  const find = (text: string) => findVersion(versions, text);
  if (options.restore !== undefined) {
    const { text } = find(options.restore);
    // Only the Steps go back: Configuration and Validation are a person's.
    const restored = await files.writeSteps(task.name, task.text, stepTexts(parseTask(text, task.file)), true);
    if (restored === undefined) {
      const hint = 'a run, or somebody, has just changed it: look at it, then try again';
      throw new NightshiftError('usage', `${task.name}.md is not the one that was read`, hint, { file: task.file });
    }
    await settleWaiting(io, paths, task.name, `a person went back to version ${options.restore}`);
    io.print(
      options.json
        ? JSON.stringify({ restored: versionOf(restored) })
        : `The Steps are those of version ${options.restore} again.`,
    );
    return EXIT.done;
  }
  if (options.diff !== undefined) {
    const { number, text } = find(options.diff);
    const before = versions.filter((each) => each.number < number).at(-1)?.text ?? '';
    const diff = diffLines(before, text);
    io.print(options.json ? JSON.stringify({ diff }) : diff.map(printable).join('\n'));
    return EXIT.done;
  }
  const changes = (await readHistory(paths, io)).changesOf(task.name);
  const listed = versions.map(({ number, version }) => {
    const change = changes.findLast(({ to }) => to === version);
    return {
      number,
      version,
      current: version === task.version,
      at: change?.at,
      run: change?.run,
      batch: change?.batch,
      summary: change?.summary,
      lessons: change?.lessons,
    };
  });
  if (options.json) io.print(JSON.stringify({ task: task.name, versions: listed }));
  else if (listed.length === 0) io.print(`${task.name} has one version, the file itself: no run has used it yet.`);
  else for (const version of listed) for (const line of describe(version)) io.print(line);
  return EXIT.done;
}

function describe(version: {
  number: number;
  version: string;
  current: boolean;
  at?: string | undefined;
  run?: string | undefined;
  batch?: number | undefined;
  summary?: string | undefined;
  lessons?: StepsChange['lessons'] | undefined;
}): string[] {
  const { number, version: hash, current, at, run, batch, summary, lessons = [] } = version;
  const origin =
    at === undefined ? 'written by a person' : `learned ${at}, batch ${batch} of run ${run}: ${oneLine(summary ?? '')}`;
  return [
    `${number} ${hash}${current ? ' (in force)' : ''}  ${origin}`,
    ...lessons.map(
      ({ text, rows, attempts }) =>
        `    ${oneLine(text)} (from ${listed('row', rows)}; ${listed('attempt', attempts)})`,
    ),
  ];
}

function findVersion<T extends { number: number; version: string }>(versions: readonly T[], text: string): T {
  const found = versions.find(({ number, version }) => String(number) === text || version === text);
  if (found) return found;
  const hint =
    versions.length > 0 ? `versions are: ${versions.map(({ number }) => number).join(', ')}` : 'there is none yet';
  throw new NightshiftError('not-found', `there is no version ${JSON.stringify(text)}`, hint);
}

/** What still waits to be folded in led away from what the person wants: it is not brought in again (rule L4). */
async function settleWaiting(io: Io, paths: ShiftPaths, task: string, reason: string): Promise<void> {
  const considered = [...(await readHistory(paths, io)).unsettled(task).keys()];
  if (considered.length === 0) return;
  await using journal = await Journal.open(paths);
  const at = new Date(io.now()).toISOString();
  const common = { at, run: '', seq: 0, shift: paths.name, task };
  journal.append({ type: 'steps:kept', ...common, reason, recommendations: [], considered });
  await journal.flush();
}
