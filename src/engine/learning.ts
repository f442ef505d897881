import { placeholdersIn } from '../core/language/template.ts';
import {
  applyChanges,
  checkLessons,
  lessonsOf,
  mergePlainly,
  type StepChange,
  withoutRepeats,
} from '../core/learning/lessons.ts';
import type { Recommendation } from '../core/model/events.ts';
import { versionOf } from '../core/model/identity.ts';
import { type LessonOutcome, type LessonProposal, makeLessonOrder } from '../core/model/lesson-order.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import { statusAt } from '../core/schedule/plan.ts';
import { compare } from '../core/text/likeness.ts';
import type { Snapshot } from '../store/store.ts';
import type { RunContext } from './context.ts';
import { findRow } from './find-row.ts';

/** What is needed to write a lesson. */
export type LessonPorts = Pick<RunContext, 'documents' | 'emit' | 'history' | 'alone'>;

/** What a lesson is about. `batch`: its number in this run, 0 for what an earlier run left. */
export interface Lesson {
  readonly shift: Shift;
  readonly task: Task;
  readonly snapshot: Snapshot;
  readonly batch: number;
}

/** Only the newest ones: the question must not grow forever if a manager never answers. */
const CONSIDERED_AT_MOST = 100;

/** After a batch: recommendations of devs whose items passed become part of the Steps (rules L1-L6). */
export async function foldLessons(context: RunContext, lesson: Lesson): Promise<void> {
  const { shift, task, snapshot } = lesson;
  if (!shift.settings.learn) return;
  const recommendations = passedRecommendations(context, task, snapshot);
  if (recommendations.length === 0) return;
  if (context.ports.findAgent(task.settings.agent)?.runsSteps) {
    const reason =
      'the agent of this task runs its Steps as scripts, so recommendations are only listed: text from data must not run';
    keep(context, task, { reason, recommendations, settled: recommendations });
    return;
  }
  const question = JSON.stringify([task.version, recommendations.map(({ item, text }) => [item, text])]);
  if (context.questions.get(task.name) === question) return;
  context.questions.set(task.name, question);
  const { interrupt } = context.control;
  const answer = await askManager(context, shift, task, recommendations);
  // The run stops or pauses: recommendations wait until it continues.
  if (interrupt.aborted) {
    context.questions.delete(task.name);
    return;
  }
  const refused =
    'reason' in answer ? answer.reason : await applyLessons(context, lesson, answer.proposal, recommendations);
  if (refused !== undefined) await foldPlainly(context, lesson, recommendations, refused);
}

/** Checks proposed changes (rule L3) and writes them; returns why not, if they are refused. */
export async function applyLessons(
  ports: LessonPorts,
  { shift, task, snapshot, batch }: Lesson,
  proposal: LessonProposal,
  recommendations: readonly Recommendation[],
): Promise<string | undefined> {
  const changes = withoutRepeats(task.stepTexts, proposal.changes);
  const checked = check(task, shift, snapshot, changes);
  if ('refused' in checked) return checked.refused;
  const lessons = lessonsOf(changes, recommendations);
  await write(ports, task, { steps: checked.steps, summary: proposal.summary, lessons, batch }, recommendations);
  return undefined;
}

/** Rule L1: the table says which items passed, so an interruption loses none (rule P8). */
export function passedRecommendations(
  { history }: Pick<LessonPorts, 'history'>,
  task: Task,
  snapshot: Snapshot,
): Recommendation[] {
  const waiting = history.unsettled(task.name);
  if (waiting.size === 0) return [];
  const column = snapshot.tasks.indexOf(task.name);
  const passed = [...waiting].filter(([item, recommendations]) => {
    const row = findRow(snapshot, item, recommendations[0]!.row - 1);
    return row !== undefined && statusAt(snapshot, row, column) === 'done';
  });
  return passed.slice(-CONSIDERED_AT_MOST).flatMap(([, recommendations]) => recommendations);
}

/** While its agent works, edits of the documents are undone (rule D5). */
async function askManager(
  context: RunContext,
  shift: Shift,
  task: Task,
  recommendations: readonly Recommendation[],
): Promise<LessonOutcome> {
  await using _protected = context.documents.protect();
  return await context.learn(makeLessonOrder(shift, task, recommendations), shift.secrets);
}

function check(
  task: Task,
  shift: Shift,
  snapshot: Snapshot,
  changes: readonly StepChange[],
): { readonly steps: string[] } | { readonly refused: string } {
  const steps = applyChanges(task.stepTexts, changes);
  if ('refused' in steps) return steps;
  const columns = new Set(snapshot.header);
  const refused = checkLessons({
    before: task.stepTexts,
    after: steps,
    placeholdersOf: (text) => placeholdersIn(text, columns),
    secrets: Object.values(shift.secrets),
    rows: allRows(snapshot),
  });
  return refused === undefined ? { steps } : { refused };
}

function* allRows(snapshot: Snapshot): Iterable<Record<string, string>> {
  for (let row = 0; row < snapshot.count; row++) yield snapshot.metadata(row);
}

/** Rule L6. A recommendation of only one row waits until another row repeats it. */
async function foldPlainly(
  context: RunContext,
  { shift, task, snapshot, batch }: Lesson,
  recommendations: readonly Recommendation[],
  why: string,
): Promise<void> {
  const { changes, lessons } = mergePlainly(recommendations, task.stepTexts);
  const summary = `the manager's answer was not used (${why}); merged what at least two rows recommended`;
  const checked = check(task, shift, snapshot, changes);
  if (changes.length > 0 && 'steps' in checked) {
    const isMerged = ({ text }: Recommendation) => lessons.some((lesson) => compare(lesson.text, text) === 'same');
    const waiting = new Set(recommendations.filter((each) => !isMerged(each)).map(({ item }) => item));
    const agreed = recommendations.filter(({ item }) => !waiting.has(item));
    await write(context, task, { steps: checked.steps, summary, lessons, batch }, agreed);
    return;
  }
  const refused = 'refused' in checked ? `; and by themselves: ${checked.refused}` : '';
  const settled = changes.length > 0 ? recommendations : [];
  keep(context, task, { reason: `the manager's answer was not used (${why})${refused}`, recommendations, settled });
}

interface NewSteps {
  readonly steps: readonly string[];
  readonly summary: string;
  readonly lessons: ReturnType<typeof lessonsOf>;
  readonly batch: number;
}

async function write(
  ports: LessonPorts,
  task: Task,
  { steps, summary, lessons, batch }: NewSteps,
  settled: readonly Recommendation[],
): Promise<void> {
  const unchanged = steps.length === task.stepTexts.length && steps.every((step, i) => step === task.stepTexts[i]);
  if (unchanged) {
    keep(ports, task, { reason: summary || 'nothing new was recommended', recommendations: [], settled });
    return;
  }
  // No dev may start with Steps before the event that reports them.
  await ports.alone(async () => {
    const written = await ports.documents.writeSteps(task.name, task.text, steps);
    if (written === undefined) {
      const reason = 'the task file was edited meanwhile; they are tried again after the next batch';
      keep(ports, task, { reason, recommendations: [], settled: [] });
      return;
    }
    ports.emit({
      type: 'steps:changed',
      task: task.name,
      from: task.version,
      to: versionOf(written),
      summary,
      lessons,
      batch,
      considered: itemsOf(settled),
    });
  });
}

interface KeptSteps {
  readonly reason: string;
  readonly recommendations: readonly Recommendation[];
  readonly settled: readonly Recommendation[];
}

function keep({ emit }: LessonPorts, task: Task, { reason, recommendations, settled }: KeptSteps): void {
  const considered = itemsOf(settled);
  emit({ type: 'steps:kept', task: task.name, reason, recommendations: [...recommendations], considered });
}

function itemsOf(recommendations: readonly Recommendation[]): string[] {
  return [...new Set(recommendations.map(({ item }) => item))];
}
