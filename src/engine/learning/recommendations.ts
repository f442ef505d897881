import type { FoldedRecommendation } from '../../core/learning/reports.ts';
import { fromFolder, generalise } from '../../core/learning/screen/generalise.ts';
import type { Metadata } from '../../core/learning/screen/row-values.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import type { Snapshot } from '../../store/store.ts';
import { findRow } from '../find-row.ts';
import type { LessonPorts } from './settle.ts';

/** The newest ones: a manager that never answers must not make the question grow for ever. */
const CONSIDERED_AT_MOST = 100;

/** What lessons of a task are made from. */
export interface LessonMaterial {
  readonly shift: Shift;
  readonly task: Task;
  readonly snapshot: Snapshot;
}

/**
 * Rule L1; the table says which items passed, so that an interruption loses none (rule P8). Values of their rows are
 * placeholders (rule L3).
 */
export function passedRecommendations(
  { history }: Pick<LessonPorts, 'history'>,
  { shift, task, snapshot }: LessonMaterial,
): FoldedRecommendation[] {
  const waiting = history.unsettled(task.name);
  if (waiting.size === 0) return [];
  const column = snapshot.tasks.indexOf(task.name);
  const passed = [...waiting].flatMap(([item, recommendations]) => {
    const row = findRow(snapshot, item, recommendations[0]!.row - 1);
    return row !== undefined && statusAt(snapshot, row, column) === 'done' ? [{ row, recommendations }] : [];
  });
  const considered = passed
    .slice(-CONSIDERED_AT_MOST)
    .flatMap(({ row, recommendations }) => recommendations.map((each) => ({ each, metadata: snapshot.metadata(row) })));
  const texts = generalise(
    considered.map(({ each, metadata }) => ({ text: fromFolder(each.text, shift.root), metadata })),
    allRows(snapshot),
  );
  // Older journals don't tell when, and by which agent.
  return considered.map(({ each }, i) => ({ at: '', agent: task.settings.agent, ...each, text: texts[i]! }));
}

/** The metadata of all rows; each reading begins anew. */
export function allRows(snapshot: Snapshot): Iterable<Metadata> {
  return {
    *[Symbol.iterator]() {
      for (let row = 0; row < snapshot.count; row++) yield snapshot.metadata(row);
    },
  };
}
