import { NightshiftError } from '../core/model/errors.ts';
import { applyLessons, passedRecommendations } from '../engine/learning.ts';
import { readManagerReport } from '../roles/report.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { openByHand } from './batch/by-hand.ts';
import { findTask } from './find-task.ts';
import type { World } from './world.ts';

/** The form of the changes that fold recommendations into the Steps. */
export const CHANGES_FORM = `{"changes": [{"op": "add", "after": N, "text": "..."}, {"op": "replace", "step": N, "text": "..."}, {"op": "remove", "step": N}], "summary": "..."}`;

export interface WaitingLessons {
  readonly task: string;
  readonly steps: readonly { readonly step: number; readonly text: string }[];
  readonly recommendations: ReturnType<typeof passedRecommendations>;
  /** False: the shift has `disable-self-improvement: true`. */
  readonly isLearning: boolean;
}

/** What devs recommended whose items passed, and the Steps as they are (rules L1-L5). */
export async function readLessons(world: World, paths: ShiftPaths, taskName: string): Promise<WaitingLessons> {
  await using hand = await openByHand(paths, world);
  const task = findTask(hand.shift, taskName);
  const steps = task.stepTexts.map((text, i) => ({ step: i + 1, text }));
  const isLearning = hand.shift.settings.learn;
  const snapshot = await hand.ports.store.snapshot();
  const recommendations = isLearning ? passedRecommendations(hand.ports.events, task, snapshot) : [];
  return { task: task.name, steps, recommendations, isLearning };
}

/** Folds what waits into the Steps, as `changes` (JSON) says; returns how many recommendations it settles. */
export async function foldLessons(world: World, paths: ShiftPaths, taskName: string, changes: string): Promise<number> {
  await using hand = await openByHand(paths, world);
  const { ports, shift } = hand;
  using context = await hand.context();
  const task = findTask(shift, taskName);
  if (!shift.settings.learn) {
    const message = `${paths.name} has \`disable-self-improvement: true\``;
    throw new NightshiftError('nothing-to-do', message, 'its Steps stay as they are');
  }
  const snapshot = await ports.store.snapshot();
  const recommendations = passedRecommendations(context, task, snapshot);
  if (recommendations.length === 0) {
    const hint = 'only recommendations of devs whose items passed can become part of the Steps';
    throw new NightshiftError('nothing-to-do', `there are no new recommendations for ${task.name}`, hint);
  }
  const report = await readManagerReport(parse(changes));
  if ('unusable' in report) throw new NightshiftError('usage', report.unusable, `the form is ${CHANGES_FORM}`);
  const refused = await applyLessons(context, { shift, task, snapshot, batch: 0 }, report, recommendations);
  await ports.events.flush();
  if (refused === undefined) return recommendations.length;
  throw new NightshiftError('usage', `the change was refused: ${refused}`, 'propose another one');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NightshiftError('usage', 'the changes are not JSON', `the form is ${CHANGES_FORM}`);
  }
}
