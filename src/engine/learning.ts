import { agentEnvironment } from '../agents/environment.ts';
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
import type { Shift, Task } from '../core/model/shift.ts';
import { statusAt } from '../core/schedule/plan.ts';
import { compare } from '../core/text/likeness.ts';
import { createMask } from '../core/text/mask.ts';
import { managerPrompt } from '../roles/prompt.ts';
import { readManagerReport } from '../roles/report.ts';
import type { Snapshot } from '../store/store.ts';
import type { RunContext } from './context.ts';
import { findRow } from './find-row.ts';
import { Conversation } from './worker/conversation.ts';
import { takeScratch } from './worker/scratch.ts';
import { Transcript } from './worker/transcript.ts';

/** What it takes to write a lesson down. */
export type LessonPorts = Pick<RunContext, 'documents' | 'emit' | 'history' | 'alone'>;

/** What a lesson is about. `batch`: its number in this run, 0 for what an earlier run left. */
export interface Lesson {
  readonly shift: Shift;
  readonly task: Task;
  readonly snapshot: Snapshot;
  readonly batch: number;
}

/** Changes of the Steps that an agent proposes. */
export interface Changes {
  readonly changes: readonly StepChange[];
  readonly summary: string;
}

/** The newest ones: a manager that never answers must not make the question grow for ever. */
const CONSIDERED_AT_MOST = 100;

/**
 * After a batch: what devs that succeeded recommended, on items that passed, becomes part of the Steps (rules L1-L6).
 */
export async function foldLessons(context: RunContext, lesson: Lesson): Promise<void> {
  const { shift, task, snapshot } = lesson;
  if (!shift.settings.learn) return;
  const recommendations = passedRecommendations(context, task, snapshot);
  if (recommendations.length === 0) return;
  if (context.ports.agents.find(task.settings.agent)?.runsSteps) {
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
  // The run stops or pauses at once: they wait until it continues.
  if (interrupt.aborted) {
    context.questions.delete(task.name);
    return;
  }
  const refused = 'refused' in answer ? answer.refused : await applyLessons(context, lesson, answer, recommendations);
  if (refused !== undefined) await foldPlainly(context, lesson, recommendations, refused);
}

/** Checks proposed changes (rule L3) and writes them; why not, if they are refused. */
export async function applyLessons(
  ports: LessonPorts,
  { shift, task, snapshot, batch }: Lesson,
  proposal: Changes,
  recommendations: readonly Recommendation[],
): Promise<string | undefined> {
  const changes = withoutRepeats(task.stepTexts, proposal.changes);
  const checked = check(task, shift, snapshot, changes);
  if ('refused' in checked) return checked.refused;
  const lessons = lessonsOf(changes, recommendations);
  await write(ports, task, { steps: checked.steps, summary: proposal.summary, lessons, batch }, recommendations);
  return undefined;
}

/** Rule L1; the table says which items passed, so that an interruption loses none (rule P8). */
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

type Answer = Changes | { readonly refused: string };

async function askManager(
  context: RunContext,
  shift: Shift,
  task: Task,
  recommendations: readonly Recommendation[],
): Promise<Answer> {
  const { ports, control, documents, budget } = context;
  const { agents } = ports;
  const { secrets } = shift;
  const { settings } = task;
  const agent = agents.find(settings.agent)!;
  using timeout = ports.clock.timeout(settings.timeoutMs);
  const signal = AbortSignal.any([control.interrupt, timeout.signal]);
  const subject = { role: 'manager' as const, task: task.name, key: task.version, agent: agent.name };
  const mask = createMask(secrets);
  const taken = takeScratch();
  if (taken instanceof Error) return { refused: taken.message };
  await using scratch = taken;
  await using _protected = documents.protect();
  await using conversation = new Conversation(
    agent,
    {
      role: 'manager',
      folder: shift.root,
      scratch: scratch.folder,
      shiftFolder: shift.folder,
      settings: { ...settings, tools: [] },
      mask,
      signal,
    },
    new Transcript(context.emit, mask, () => subject),
    budget.spentUp,
  );
  const reply = await conversation.ask(
    {
      whole: () => managerPrompt({ task: task.name, steps: task.stepTexts, recommendations }),
      steps: [],
      environment: agentEnvironment({
        caller: agents.caller,
        passEnv: [...agent.credentials, ...settings.passEnv],
        secrets,
        own: {
          NIGHTSHIFT_ROLE: 'manager',
          NIGHTSHIFT_SHIFT: shift.name,
          NIGHTSHIFT_SHIFT_DIR: shift.folder,
          NIGHTSHIFT_TABLE: shift.table,
          NIGHTSHIFT_TASK: task.name,
        },
      }),
    },
    readManagerReport,
  );
  if (reply.kind === 'aborted') return { refused: 'it was stopped' };
  if (reply.kind === 'trouble') return { refused: mask.text(reply.trouble.reason) };
  if (reply.kind !== 'report') return { refused: mask.text(reply.reason) };
  const { report } = reply;
  // A secret in the changes is not masked but refused, with all of them (rule L3).
  return { ...report, summary: mask.text(report.summary) };
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

/** Rule L6. What only one row said waits until another says it too. */
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
  // No dev may start with Steps that no event has told of yet.
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
