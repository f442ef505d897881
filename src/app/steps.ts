import type { StepsChange } from '../core/folds/checkpoint.ts';
import type { History } from '../core/folds/history.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { versionOf } from '../core/model/identity.ts';
import type { Task } from '../core/model/shift.ts';
import { diffLines, unifiedDiff } from '../core/text/line-diff.ts';
import { parseTask, stepTexts } from '../formats/task.ts';
import type { ShiftFiles } from '../store/folder/documents/shift-files.ts';
import { Journal } from '../store/folder/journal/journal.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { refuseEdits } from './edit/refuse-edits.ts';
import { findTask } from './find-task.ts';
import { readHistory } from './history.ts';
import { openAndCheck } from './open-shift.ts';
import type { World } from './world.ts';

/** Rule L4: a version of a task's Steps. A version without `at` is your own edit. */
export interface StepsVersion extends Partial<Pick<StepsChange, 'at' | 'run' | 'batch' | 'summary' | 'lessons'>> {
  readonly number: number;
  readonly version: string;
  readonly current: boolean;
}

export async function listSteps(world: World, paths: ShiftPaths, taskName: string): Promise<StepsVersion[]> {
  const { task, versions } = await readVersions(paths, taskName);
  return describeVersions(task, versions, await readHistory(paths, world));
}

export function describeVersions(task: Task, versions: readonly Version[], history: History): StepsVersion[] {
  const changes = history.changesOf(task.name);
  return versions.map(({ number, version }) => {
    const change = changes.findLast(({ to }) => to === version);
    return { number, version, current: version === task.version, ...(change && originOf(change)) };
  });
}

function originOf({ at, run, batch, summary, lessons }: StepsChange): Partial<StepsVersion> {
  return { at, run, batch, summary, lessons };
}

/** What a version changed, as lines of a diff. */
export async function diffSteps(paths: ShiftPaths, taskName: string, wanted: string): Promise<string[]> {
  const { versions } = await readVersions(paths, taskName);
  const { number, text } = findVersion(versions, wanted);
  const before = versions.filter((each) => each.number < number).at(-1)?.text ?? '';
  return diffLines(before, text);
}

/** What changed between two versions, in short. Nothing if one of them is not kept. */
export async function diffVersions(
  paths: ShiftPaths,
  taskName: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<string[]> {
  const { versions } = await readVersions(paths, taskName);
  const [before, after] = [from, to].map((wanted) => versions.find(({ version }) => version === wanted)?.text);
  return before === undefined || after === undefined ? [] : unifiedDiff(before, after);
}

/** Restores the Steps of a version. Configuration and Validation stay as they are, so they must be yours. */
export async function restoreSteps(world: World, paths: ShiftPaths, taskName: string, wanted: string): Promise<string> {
  const { task, files, versions } = await readVersions(paths, taskName);
  const { text } = findVersion(versions, wanted);
  refuseEdits(paths, [task]);
  const restored = await files.writeSteps(task.name, task.text, stepTexts(parseTask(text, task.file)), true);
  if (restored === undefined) {
    const hint = 'it has just changed: look at it, then try again';
    throw new NightshiftError('usage', `${task.name}.md has changed`, hint, { file: task.file });
  }
  await dropWaiting(world, paths, task.name, `restored version ${wanted}`);
  return versionOf(restored);
}

export interface Version {
  readonly number: number;
  readonly version: string;
  readonly text: string;
}

interface Versions {
  readonly task: Task;
  readonly files: ShiftFiles;
  readonly versions: readonly Version[];
}

async function readVersions(paths: ShiftPaths, taskName: string): Promise<Versions> {
  const { shift, files } = await openAndCheck(paths);
  const task = findTask(shift, taskName);
  return { task, files, versions: await files.versions.all(task.name) };
}

export function findVersion(versions: readonly Version[], text: string): Version {
  const found = versions.find(({ number, version }) => String(number) === text || version === text);
  if (found) return found;
  const hint =
    versions.length > 0 ? `versions are: ${versions.map(({ number }) => number).join(', ')}` : 'there is none yet';
  throw new NightshiftError('not-found', `there is no version ${JSON.stringify(text)}`, hint);
}

/** Recommendations that still wait led away from what the person wants, so they are not folded in later. */
async function dropWaiting(world: World, paths: ShiftPaths, task: string, reason: string): Promise<void> {
  const considered = [...(await readHistory(paths, world)).unsettled(task).keys()];
  if (considered.length === 0) return;
  await using journal = await Journal.open(paths);
  const at = new Date(world.now()).toISOString();
  const common = { at, run: '', seq: 0, shift: paths.name, task };
  journal.append({ type: 'steps:kept', ...common, reason, recommendations: [], considered });
  await journal.flush();
}
