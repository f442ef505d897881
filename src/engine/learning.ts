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
import { findRow } from './find-row.ts';
import type { RunParts } from './ports.ts';
import { Conversation } from './worker/conversation.ts';
import { takeScratch } from './worker/scratch.ts';
import { Transcript } from './worker/transcript.ts';

/** What it takes to write a lesson down. */
export type LessonParts = Pick<RunParts, 'documents' | 'emit' | 'history' | 'alone'>;

/** The newest count: a manager that never answers must not make the question grow for ever. */
const CONSIDERED_AT_MOST = 100;

/**
 * After a batch: what devs that succeeded recommended, on items that passed, becomes part of the Steps (rules L1-L6).
 * `batch`: its number in this run, 0 for what an earlier run left.
 */
export async function foldLessons(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  batch: number,
): Promise<void> {
  if (!shift.settings.learn) return;
  const recommendations = passedRecommendations(parts, task, snapshot);
  if (recommendations.length === 0) return;
  if (parts.agents(shift).find(task.settings.agent)?.runsSteps) {
    const reason =
      'the agent of this task runs its Steps as scripts, so recommendations are only listed: text from data must not run';
    keep(parts, task, reason, recommendations, recommendations);
    return;
  }
  const question = JSON.stringify([task.version, recommendations.map(({ item, text }) => [item, text])]);
  if (parts.asked.get(task.name) === question) return;
  parts.asked.set(task.name, question);
  const { interrupt } = parts.stop;
  const asked = await askManager(parts, shift, task, recommendations);
  // Asked in vain because the run stops or pauses at once: they wait until it continues.
  if (interrupt.aborted) {
    parts.asked.delete(task.name);
    return;
  }
  const refused =
    'refused' in asked
      ? asked.refused
      : await applyLessons(parts, shift, task, snapshot, asked, recommendations, batch);
  if (refused !== undefined) await foldPlainly(parts, shift, task, snapshot, recommendations, batch, refused);
}

/** Changes that somebody proposed, checked (rule L3) and written; why not, if they are refused. */
export async function applyLessons(
  parts: LessonParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  proposal: { readonly changes: readonly StepChange[]; readonly summary: string },
  recommendations: readonly Recommendation[],
  batch: number,
): Promise<string | undefined> {
  const changes = withoutRepeats(task.stepTexts, proposal.changes);
  const checked = check(task, shift, snapshot, changes);
  if ('refused' in checked) return checked.refused;
  const lessons = lessonsOf(changes, recommendations);
  await write(parts, task, { steps: checked.steps, summary: proposal.summary, lessons, batch }, recommendations);
  return undefined;
}

/** Rule L1; the table says who passed, so that an interruption loses nobody (rule P8). */
export function passedRecommendations(parts: LessonParts, task: Task, snapshot: Snapshot): Recommendation[] {
  const waiting = parts.history.unsettled(task.name);
  if (waiting.size === 0) return [];
  const column = snapshot.tasks.indexOf(task.name);
  const passed = [...waiting].filter(([item, recommendations]) => {
    const row = findRow(snapshot, item, recommendations[0]!.row - 1);
    return row !== undefined && statusAt(snapshot, row, column) === 'done';
  });
  return passed.slice(-CONSIDERED_AT_MOST).flatMap(([, recommendations]) => recommendations);
}

type Proposal = { readonly changes: readonly StepChange[]; readonly summary: string } | { readonly refused: string };

async function askManager(
  parts: RunParts,
  shift: Shift,
  task: Task,
  recommendations: readonly Recommendation[],
): Promise<Proposal> {
  const agents = parts.agents(shift);
  const { settings } = task;
  const agent = agents.find(settings.agent)!;
  using timeout = parts.clock.timeout(settings.timeoutMs);
  const signal = AbortSignal.any([parts.stop.interrupt, timeout.signal]);
  const subject = { role: 'manager' as const, task: task.name, key: task.version, agent: agent.name };
  const mask = createMask(agents.secrets);
  const taken = takeScratch();
  if (taken instanceof Error) return { refused: taken.message };
  await using scratch = taken;
  await using _protected = parts.documents.protect();
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
    new Transcript(parts.emit, mask, () => subject),
    () => parts.spentUp?.(),
  );
  const reply = await conversation.ask(
    {
      whole: () => managerPrompt({ task: task.name, steps: task.stepTexts, recommendations }),
      steps: [],
      environment: agentEnvironment({
        caller: agents.caller,
        passEnv: [...agent.credentials, ...settings.passEnv],
        secrets: agents.secrets,
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
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  recommendations: readonly Recommendation[],
  batch: number,
  why: string,
): Promise<void> {
  const { changes, lessons } = mergePlainly(recommendations, task.stepTexts);
  const summary = `the manager's answer was not used (${why}); merged what at least two rows recommended`;
  const checked = check(task, shift, snapshot, changes);
  if (changes.length > 0 && 'steps' in checked) {
    const isMerged = ({ text }: Recommendation) => lessons.some((lesson) => compare(lesson.text, text) === 'same');
    const waiting = new Set(recommendations.filter((each) => !isMerged(each)).map(({ item }) => item));
    const agreed = recommendations.filter(({ item }) => !waiting.has(item));
    await write(parts, task, { steps: checked.steps, summary, lessons, batch }, agreed);
    return;
  }
  const refused = 'refused' in checked ? `; and by themselves: ${checked.refused}` : '';
  const settled = changes.length > 0 ? recommendations : [];
  keep(parts, task, `the manager's answer was not used (${why})${refused}`, recommendations, settled);
}

async function write(
  parts: LessonParts,
  task: Task,
  {
    steps,
    summary,
    lessons,
    batch,
  }: { steps: readonly string[]; summary: string; lessons: ReturnType<typeof lessonsOf>; batch: number },
  settled: readonly Recommendation[],
): Promise<void> {
  const unchanged = steps.length === task.stepTexts.length && steps.every((step, i) => step === task.stepTexts[i]);
  if (unchanged) {
    keep(parts, task, summary || 'nothing new was recommended', [], settled);
    return;
  }
  const alone = parts.alone ?? ((write) => write());
  // No dev may begin with Steps that nobody has heard of yet.
  await alone(async () => {
    const written = await parts.documents.writeSteps(task.name, task.text, steps);
    if (written === undefined) {
      keep(parts, task, 'the task file was edited meanwhile; they are tried again after the next batch', [], []);
      return;
    }
    parts.emit({
      type: 'steps:changed',
      task: task.name,
      from: task.version,
      to: versionOf(written),
      summary,
      lessons,
      batch,
      considered: [...new Set(settled.map(({ item }) => item))],
    });
  });
}

function keep(
  parts: LessonParts,
  task: Task,
  reason: string,
  recommendations: readonly Recommendation[],
  settled: readonly Recommendation[],
): void {
  parts.emit({
    type: 'steps:kept',
    task: task.name,
    reason,
    recommendations: [...recommendations],
    considered: [...new Set(settled.map(({ item }) => item))],
  });
}
