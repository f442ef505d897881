import { effectTexts } from '../../core/folds/effect-text.ts';
import type { StepsAnswer, StepsDiffAnswer, StepsVersionAnswer } from '../../core/page/history-answers.ts';
import { diffLines } from '../../core/text/line-diff.ts';
import { createMask } from '../../core/text/mask.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { findTask } from '../find-task.ts';
import { lessonsOf, readLearning } from '../lessons/list-lessons.ts';
import { describeVersions, findVersion, type StepsVersion, type Version } from '../steps.ts';
import type { ShiftReading } from './shift-reader.ts';

/** The versions of a task's Steps, and what was learned. */
export async function answerSteps(reading: ShiftReading, taskName: string, now: number): Promise<StepsAnswer> {
  const { shift, snapshot, history } = reading;
  const task = findTask(shift, taskName);
  const versions = describeVersions(task, await versionsOf(reading, task.name), history);
  const { tasks } = readLearning(shift, { items: snapshot, history, now });
  const learning = tasks.find((each) => each.task === task.name);
  return createMask(shift.secrets).deep({
    task: task.name,
    versions: versions.map(describe),
    text: task.stepTexts.map((text, i) => `${i + 1}. ${text}`).join('\n'),
    lessons: lessonsOf(shift, now, task.name),
    effect: learning ? effectTexts(learning) : [],
  });
}

function describe({ number, version, current, at, summary, lessons }: StepsVersion): StepsVersionAnswer {
  return {
    number,
    version,
    isCurrent: current,
    ...(at === undefined ? {} : { at }),
    ...(summary === undefined ? {} : { summary }),
    ...(lessons === undefined ? {} : { lessons: lessons.map(({ text, rows }) => ({ text, rows })) }),
  };
}

/** The difference of any two versions; 0 is before the first. */
export async function answerStepsDiff(
  reading: ShiftReading,
  taskName: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<StepsDiffAnswer> {
  const task = findTask(reading.shift, taskName);
  const versions = await versionsOf(reading, task.name);
  const textOf = (number: number) => (number === 0 ? '' : findVersion(versions, String(number)).text);
  const mask = createMask(reading.shift.secrets);
  return { lines: diffLines(textOf(from), textOf(to)).map((line) => mask.text(line)) };
}

function versionsOf({ place }: ShiftReading, task: string): Promise<Version[]> {
  return new ShiftFiles(place.paths).versions.all(task);
}
