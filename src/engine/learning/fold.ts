import { type GroupingAnswer, needsGrouping, readGrouping } from '../../core/learning/grouping.ts';
import { authorSteps, reconcile } from '../../core/learning/in-steps.ts';
import { foldReports } from '../../core/learning/policy.ts';
import { type FoldedRecommendation, inOrder } from '../../core/learning/reports.ts';
import type { LessonVote } from '../../core/model/events.ts';
import { makeLessonOrder } from '../../core/model/lesson-order.ts';
import type { RunContext } from '../context.ts';
import { isCurable } from '../file-patience.ts';
import { type LessonMaterial, passedRecommendations } from './recommendations.ts';
import { screenFor } from './screen.ts';
import { isSame, isSameList, settleLessons, tellStates } from './settle.ts';

/** A file may be edited at that moment; then it is read again. */
const TRIES = 3;
/** The newest of them are shown to the manager's agent. */
const SHOWN_AT_MOST = 100;

const LISTED_ONLY =
  'the agent of this task runs its Steps as scripts, so it is only listed: text from data must not run';

/**
 * After a batch: what devs that succeeded recommended, on items that passed, becomes lessons, and what devs and qas say
 * about lessons is counted (rules L1-L6). `batch`: its number in this run, 0 for what an earlier run left. What can't be
 * folded now, because a file is being edited, waits for the next fold of the task or for `foldRest`.
 */
export async function foldLessons(context: RunContext, name: string, batch: number): Promise<void> {
  context.unfolded.delete(name);
  if (!(await tryFold(context, name, batch))) context.unfolded.add(name);
}

/** False: a file was edited or could not be read. */
async function tryFold(context: RunContext, name: string, batch: number): Promise<boolean> {
  let answer: Answer | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    const material = await readLessonMaterial(context, name);
    if (!material) return false;
    if (material.shift.settings.lessons.mode === 'off') return true;
    const recommendations = passedRecommendations(context, material);
    if (recommendations.length + context.history.votes(name).length === 0) return true;
    answer ??= await askManager(context, material, recommendations);
    // The run stops or pauses at once: they wait until it continues.
    if (context.control.isEnding) return true;
    if (await fold(context, material, { recommendations, batch, ...answer })) return true;
  }
  return false;
}

/** Before the run ends: what earlier folds could not settle. A warning names what still waits then. */
export async function foldRest(context: RunContext): Promise<void> {
  if (context.control.isHalted) return;
  for (const name of [...context.unfolded]) await foldLessons(context, name, context.dispatched);
  const left = context.shift.tasks.flatMap(({ name }) => (context.unfolded.has(name) ? [name] : []));
  if (left.length === 0) return;
  const why = await context.ports.load().then(
    () => 'a file was edited again and again',
    (error: unknown) => {
      if (isCurable(error)) return error.message;
      throw error;
    },
  );
  const message = `lessons of ${left.join(', ')}: the latest reports could not be folded: ${why}`;
  context.emit({ type: 'run:warning', message: `${message}; the next run with items to do folds them` });
}

/** Counts what devs and qas say about lessons, when recommendations are folded apart. */
export async function countVotes(context: RunContext, name: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const material = await readLessonMaterial(context, name);
    if (!material || material.shift.settings.lessons.mode === 'off') return;
    if (context.history.votes(name).length === 0) return;
    if (await fold(context, material, { recommendations: [], batch: 0 })) return;
  }
}

/** Brings the Steps of all tasks in line with the lessons: a person may have edited them, or a run died between. */
export async function reconcileLessons(context: RunContext): Promise<void> {
  if (context.shift.lessons.book.lessons.length === 0) return;
  for (const { name } of context.shift.tasks) await readLessonMaterial(context, name);
}

/** After a reconciliation. Undefined: a file can't be read now (a person may be saving it), or the task is gone. */
export async function readLessonMaterial(context: RunContext, name: string): Promise<LessonMaterial | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const shift = await context.ports.load().catch((error: unknown) => {
      if (isCurable(error)) return undefined;
      throw error;
    });
    const task = shift?.tasks.find((each) => each.name === name);
    if (!shift || !task) return undefined;
    const now = nowIn(context);
    const { book } = shift.lessons;
    const after = reconcile(book, { task: name, steps: task.stepTexts, now });
    if (isSame(book, after.book) && isSameList(task.stepTexts, after.steps)) {
      tellStates(context, book, name);
      return { shift, task, snapshot: await context.store.snapshot() };
    }
    context.expectChange();
    await settleLessons(context, { shift, task, book, now, batch: 0 });
  }
  return undefined;
}

interface Answer {
  readonly answer?: GroupingAnswer;
}

interface Reports extends Answer {
  readonly recommendations: readonly FoldedRecommendation[];
  readonly batch: number;
}

/** False if a file was edited meanwhile. */
export async function fold(context: RunContext, material: LessonMaterial, reports: Reports): Promise<boolean> {
  const { shift, task } = material;
  const { recommendations, answer, batch } = reports;
  const { book } = shift.lessons;
  const author = authorSteps(book, task.name, task.stepTexts);
  const grouping = answer && readGrouping(answer, { book, task: task.name, recommendations, authorSteps: author });
  if (grouping && 'refused' in grouping) warnUnusable(context, task.name, grouping.refused);
  const isScript = context.ports.findAgent(task.settings.agent)?.runsSteps === true;
  const votes = context.history.votes(task.name);
  const now = nowIn(context);
  const { mode, budget } = shift.settings.lessons;
  const folded = foldReports(book, {
    ...{ task: task.name, mode, budget, now, recommendations, votes, authorSteps: author },
    ...(grouping && 'groups' in grouping && { grouping }),
    screen: isScript
      ? () => LISTED_ONLY
      : screenFor(
          material,
          author,
          recommendations.map(({ text }) => text),
        ),
  });
  context.expectChange();
  return settleLessons(context, {
    ...{ shift, task, now, batch },
    book: folded.book,
    considered: [...new Set(recommendations.map(({ item }) => item))],
    counted: countByItem(votes),
  });
}

/** While its agent works, edits of the documents are undone (rule D5). Without an answer, the plain rule stands. */
async function askManager(
  context: RunContext,
  { shift, task }: LessonMaterial,
  recommendations: readonly FoldedRecommendation[],
): Promise<Answer> {
  const { book } = shift.lessons;
  const agent = context.ports.findAgent(task.settings.agent);
  if (agent?.runsSteps || !needsGrouping(book, task.name, recommendations)) return {};
  const known = book.lessons.filter((lesson) => lesson.task === task.name).slice(-SHOWN_AT_MOST);
  const order = makeLessonOrder(shift, task, {
    steps: authorSteps(book, task.name, task.stepTexts),
    lessons: known.map(({ id, state, text }) => ({ id, state, text })),
    recommendations: inOrder(recommendations).map(({ row, text }) => ({ row, text })),
  });
  await using _protected = context.documents.protect();
  const outcome = await context.work.learn(order, shift.secrets);
  if ('proposal' in outcome) return { answer: outcome.proposal };
  if (!context.control.isEnding) warnUnusable(context, task.name, outcome.reason);
  return {};
}

/** Said, since the session was paid for and nothing came of it. */
function warnUnusable({ emit }: Pick<RunContext, 'emit'>, task: string, reason: string): void {
  const message = `lessons of ${task}: the answer of the manager's agent can't be used: ${reason}`;
  emit({ type: 'run:warning', message: `${message}; recommendations are grouped by their words` });
}

function nowIn({ ports }: RunContext): string {
  return new Date(ports.clock.now()).toISOString();
}

function countByItem(votes: readonly LessonVote[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { item } of votes) counts[item] = (counts[item] ?? 0) + 1;
  return counts;
}
