import type { History } from '../../core/folds/history.ts';
import { type Summary, summarise } from '../../core/folds/summary.ts';
import { EXIT } from '../../core/model/errors.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Snapshot } from '../../store/store.ts';
import { readDetails, readHistory } from '../history.ts';
import { openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { NOTES, UNFINISHED } from './notes.ts';

export interface DemoEnd {
  readonly summary: Summary;
  /** The one note that fails on purpose; undefined: the demo ended in another way. */
  readonly failure?: { readonly row: number; readonly attempts: number; readonly reason: string };
  /** Notes that did not pass at once. */
  readonly repaired: readonly RepairedNote[];
}

export interface RepairedNote {
  readonly name: string;
  readonly row: number;
  readonly attempt: number;
  /** Of the attempts before. */
  readonly reasons: readonly string[];
}

/** Whether the demo ended as it should: one note fails on purpose, and that is no failure of the demo. */
export async function judgeDemo(world: World, paths: ShiftPaths, exitCode: number): Promise<DemoEnd> {
  const { shift, snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths, world);
  const summary = summarise(snapshot, history, RowLabels.in(shift, snapshot));
  const row = NOTES.findIndex(({ name }) => name === UNFINISHED.name) + 1;
  const failures = summary.failures.flatMap(({ reason, items }) => items.map((item) => ({ ...item, reason })));
  const isAsExpected =
    exitCode === EXIT.failedItems &&
    failures.length === 1 &&
    failures[0]!.row === row &&
    summary.counts.completed === NOTES.length - 1;
  if (!isAsExpected) return { summary, repaired: [] };
  return { summary, failure: failures[0]!, repaired: await findRepaired(paths, snapshot, history) };
}

async function findRepaired(paths: ShiftPaths, snapshot: Snapshot, history: History): Promise<RepairedNote[]> {
  const repaired: RepairedNote[] = [];
  for (const task of snapshot.tasks) {
    for (const [index, { name }] of NOTES.entries()) {
      const item = snapshot.id(index);
      const dev = history.of(task, item)?.dev;
      if (dev?.status !== 'SUCCESS' || dev.attempts === 1) continue;
      const { attempts = [] } = (await readDetails(paths, item, [task], history)).get(task) ?? {};
      const reasons = attempts.flatMap(({ reason }) => (reason === undefined ? [] : [reason]));
      repaired.push({ name, row: index + 1, attempt: dev.attempts, reasons });
    }
  }
  return repaired;
}
