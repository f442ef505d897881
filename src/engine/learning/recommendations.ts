import type { FoldedRecommendation } from '../../core/learning/reports.ts';
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

/** Rule L1; the table says which items passed, so that an interruption loses none (rule P8). */
export function passedRecommendations(
  { history }: Pick<LessonPorts, 'history'>,
  { task, snapshot }: LessonMaterial,
): FoldedRecommendation[] {
  const waiting = history.unsettled(task.name);
  if (waiting.size === 0) return [];
  const column = snapshot.tasks.indexOf(task.name);
  const passed = [...waiting].filter(([item, [first]]) => {
    const row = findRow(snapshot, item, first!.row - 1);
    return row !== undefined && statusAt(snapshot, row, column) === 'done';
  });
  // Older journals don't tell when, and by which agent.
  return passed
    .slice(-CONSIDERED_AT_MOST)
    .flatMap(([, all]) => all.map((each) => ({ at: '', agent: task.settings.agent, ...each })));
}
