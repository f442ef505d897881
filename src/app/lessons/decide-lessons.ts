import { addLesson, type Decision, decide, type PersonsVerb } from '../../core/learning/by-person.ts';
import { authorSteps, reconcile } from '../../core/learning/in-steps.ts';
import { isApplied, type LessonBook, type LessonChange } from '../../core/learning/lesson.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { RunContext } from '../../engine/context.ts';
import { readLessonMaterial, reconcileLessons } from '../../engine/learning/fold.ts';
import { settleLessons, tellStates } from '../../engine/learning/settle.ts';
import { replaceSteps } from '../../formats/task.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type ByHand, openByHand } from '../batch/by-hand.ts';
import { checkProposal } from '../edit/proposal.ts';
import { refuseEdits } from '../edit/refuse-edits.ts';
import { findTask } from '../find-task.ts';
import type { World } from '../world.ts';

/** A run may write the same files at that moment; then both are read again. */
const TRIES = 5;

interface Judgement {
  readonly verb: PersonsVerb;
  readonly ids: readonly string[];
  readonly reason?: string | undefined;
}

/** What a person decides about lessons: all of it or nothing, also during a run. */
export function judgeLessons(world: World, paths: ShiftPaths, judgement: Judgement): Promise<readonly LessonChange[]> {
  const { verb, ids, reason } = judgement;
  return change(world, paths, ({ lessons }, now) => {
    const changes: LessonChange[] = [];
    let { book } = lessons;
    for (const id of new Set(ids)) {
      const decision = settled(decide(book, verb, id, { now, ...(reason === undefined ? {} : { reason }) }), paths);
      book = decision.book;
      changes.push(decision.change);
    }
    return { book, changes };
  });
}

/** Adds a lesson to the Steps of a task; without a name, of the only task. */
export function addByPerson(
  world: World,
  paths: ShiftPaths,
  { text, task: name }: { readonly text: string; readonly task?: string | undefined },
): Promise<readonly LessonChange[]> {
  return change(world, paths, (shift, now) => {
    const { book } = shift.lessons;
    const task = name === undefined ? onlyTask(shift) : findTask(shift, name);
    const author = authorSteps(book, task.name, task.stepTexts);
    const added = settled(addLesson(book, { task: task.name, text, now, authorSteps: author }), paths);
    return { book: added.book, changes: [added.change] };
  });
}

function onlyTask({ name, tasks }: Shift): Task {
  if (tasks.length === 1) return tasks[0]!;
  const hint =
    tasks.length === 0 ? 'add one first' : `add --task with one of: ${tasks.map((each) => each.name).join(', ')}`;
  throw new NightshiftError('usage', `${name} has ${tasks.length === 0 ? 'no' : 'several'} tasks`, hint);
}

function settled(decision: Decision, { name }: ShiftPaths): Exclude<Decision, { refused: string }> {
  if (!('refused' in decision)) return decision;
  throw new NightshiftError('usage', decision.refused, `\`nightshift lessons ${name}\` shows all lessons`);
}

interface Decided {
  readonly book: LessonBook;
  readonly changes: readonly LessonChange[];
}

/** Writes as a run does, so that a kill loses nothing. An active run takes it before its next item. */
async function change(
  world: World,
  paths: ShiftPaths,
  decideOn: (shift: Shift, now: string) => Decided,
): Promise<readonly LessonChange[]> {
  await using hand = await openByHand(paths, world);
  using context = await hand.context();
  for (let tries = 0; tries < TRIES; tries++) {
    const { tasks, lessons } = await hand.ports.load();
    refuseEdits(paths, [{ file: paths.lessons, text: lessons.text }, ...tasks]);
    // What a person did to the Steps counts first.
    await reconcileLessons(context);
    const shift = await hand.ports.load();
    const now = new Date(world.now()).toISOString();
    const decided = decideOn(shift, now);
    await refuseUnusable(hand, paths, shift, { ...decided, now });
    if (!(await write(context, shift, { ...decided, now }))) continue;
    await hand.ports.events.flush();
    return decided.changes;
  }
  throw new NightshiftError('usage', 'lessons.json or a task file is being changed', 'try again');
}

interface DatedDecision extends Decided {
  readonly now: string;
}

/** Throws if the shift could not run with the new Steps. */
async function refuseUnusable(
  { ports }: ByHand,
  paths: ShiftPaths,
  { tasks }: Shift,
  { book, changes, now }: DatedDecision,
): Promise<void> {
  for (const name of new Set(changes.filter(({ to }) => isApplied({ state: to })).map(({ task }) => task))) {
    const task = tasks.find((each) => each.name === name);
    if (!task) continue;
    if (ports.findAgent(task.settings.agent)?.runsSteps) {
      const message = `the agent of ${name} runs its Steps as scripts, so a lesson can't be one of them`;
      throw new NightshiftError('usage', message, `\`nightshift edit ${paths.name} ${name}\` changes the Steps`);
    }
    const { steps } = reconcile(book, { task: name, steps: task.stepTexts, now });
    await checkProposal(paths, { file: task.file, base: task.text, text: replaceSteps(task.text, steps) });
  }
}

/** False if a file was changed meanwhile. */
async function write(context: RunContext, shift: Shift, { book, changes, now }: DatedDecision): Promise<boolean> {
  const names = [...new Set(changes.map(({ task }) => task))];
  const tasks = shift.tasks.filter(({ name }) => names.includes(name));
  const [first, ...others] = tasks;
  if (first) {
    if (!(await settleLessons(context, { shift, task: first, book, now, batch: 0 }))) return false;
    for (const { name } of others) await readLessonMaterial(context, name);
  } else if ((await context.documents.writeLessons(shift.lessons.text, book)) === undefined) return false;
  // A task that was removed from the Task Order keeps its lessons.
  for (const name of names) if (!tasks.some((task) => task.name === name)) tellStates(context, book, name);
  return true;
}
