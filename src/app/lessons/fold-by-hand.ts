import { type GroupingAnswer, readGrouping } from '../../core/learning/grouping.ts';
import { authorSteps } from '../../core/learning/in-steps.ts';
import type { LessonChange, LessonRecord } from '../../core/learning/lesson.ts';
import { inOrder } from '../../core/learning/reports.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { createMask } from '../../core/text/mask.ts';
import { countVotes, fold, readLessonMaterial } from '../../engine/learning/fold.ts';
import { passedRecommendations } from '../../engine/learning/recommendations.ts';
import { readManagerReport } from '../../roles/report.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { openByHand } from '../batch/by-hand.ts';
import { findTask } from '../find-task.ts';
import type { World } from '../world.ts';

/** The form of the answer that groups recommendations. */
export const GROUPING_FORM = `{"lessons": [{"text": "...", "from": [N], "same_as": "L1" or null, "after": N or null}], "summary": "..."}`;

export interface WaitingLessons {
  readonly task: string;
  /** Those of the author. */
  readonly steps: readonly { readonly step: number; readonly text: string }[];
  readonly lessons: readonly Pick<LessonRecord, 'id' | 'state' | 'text'>[];
  /** In the order in which the answer numbers them, from 1. */
  readonly recommendations: readonly { readonly row: number; readonly text: string }[];
  /** False: the shift has `lessons: off`. */
  readonly isLearning: boolean;
}

/** What devs recommended whose items passed, and the Steps as they are (rules L1-L5). */
export async function readLessons(world: World, paths: ShiftPaths, taskName: string): Promise<WaitingLessons> {
  await using hand = await openByHand(paths, world);
  const { shift, ports } = hand;
  const task = findTask(shift, taskName);
  const { book } = shift.lessons;
  const isLearning = shift.settings.lessons.mode !== 'off';
  const snapshot = await ports.store.snapshot();
  const passed = isLearning ? passedRecommendations(ports.events, { shift, task, snapshot }) : [];
  return {
    task: task.name,
    steps: authorSteps(book, task.name, task.stepTexts).map((text, i) => ({ step: i + 1, text })),
    lessons: book.lessons
      .filter((lesson) => lesson.task === task.name)
      .map(({ id, state, text }) => ({ id, state, text })),
    recommendations: inOrder(passed).map(({ row, text }) => ({ row, text })),
    isLearning,
  };
}

/** What became of the recommendations that waited. */
export interface FoldedLessons {
  readonly folded: number;
  readonly changes: readonly LessonChange[];
}

/** Folds what waits, grouped as `answer` (JSON) says, by the rules of a run. */
export async function foldLessons(
  world: World,
  paths: ShiftPaths,
  taskName: string,
  answer: string,
): Promise<FoldedLessons> {
  const events: NightshiftEvent[] = [];
  await using hand = await openByHand(paths, world, { onEvent: (event) => events.push(event) });
  const { ports, shift } = hand;
  using context = await hand.context();
  const { name } = findTask(shift, taskName);
  if (shift.settings.lessons.mode === 'off') {
    throw new NightshiftError('nothing-to-do', `${paths.name} does not learn`, 'it has `lessons: off`');
  }
  const material = await readLessonMaterial(context, name);
  const recommendations = material ? passedRecommendations(context, material) : [];
  if (!material || recommendations.length === 0) {
    const hint = 'only recommendations of devs whose items passed can become lessons';
    throw new NightshiftError('nothing-to-do', `there are no new recommendations for ${name}`, hint);
  }
  const grouping = readAnswer(createMask(shift.secrets).text(answer));
  const { book } = material.shift.lessons;
  const author = authorSteps(book, name, material.task.stepTexts);
  const checked = readGrouping(grouping, { book, task: name, recommendations, authorSteps: author });
  if ('refused' in checked) {
    throw new NightshiftError('usage', `the answer was refused: ${checked.refused}`, 'correct it and try again');
  }
  const isFolded = await fold(context, material, { recommendations, answer: grouping, batch: 0 });
  await ports.events.flush();
  if (!isFolded) throw new NightshiftError('usage', `${name}.md or lessons.json has just changed`, 'try again');
  return { folded: recommendations.length, changes: changesIn(events) };
}

/** After a batch: counts what its agents say about lessons, also if they recommend nothing (rule L8). */
export async function countLessonVotes(world: World, paths: ShiftPaths, task: string): Promise<LessonChange[]> {
  const events: NightshiftEvent[] = [];
  await using hand = await openByHand(paths, world, { onEvent: (event) => events.push(event) });
  using context = await hand.context();
  await countVotes(context, task);
  await hand.ports.events.flush();
  return changesIn(events);
}

function changesIn(events: readonly NightshiftEvent[]): LessonChange[] {
  return events.flatMap((event) => {
    if (event.type !== 'lesson:changed') return [];
    const { id, task = '', text, from, to, reason } = event;
    return [{ id, task, text, to, ...(from && { from }), ...(reason !== undefined && { reason }) }];
  });
}

function readAnswer(text: string): GroupingAnswer {
  const report = readManagerReport(parse(text));
  if ('unusable' in report) throw new NightshiftError('usage', report.unusable, `the form is ${GROUPING_FORM}`);
  return report;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NightshiftError('usage', 'the answer is not JSON', `the form is ${GROUPING_FORM}`);
  }
}
