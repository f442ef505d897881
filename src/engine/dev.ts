import type { Answer, Session } from '../agents/agent.ts';
import { sum } from '../core/history.ts';
import { ATTEMPTS, type CriterionVerdict, LARGEST_CELL, type Outcome, type Usage } from '../core/model.ts';
import { resolveText } from '../core/template.ts';
import { devPrompt } from '../roles/prompt.ts';
import { type DevReport, readDevReport } from '../roles/report.ts';
import { resolveScript } from './parts.ts';
import {
  describeFailures,
  environmentOf,
  missingFolder,
  openSession,
  readCaptured,
  runChecks,
  timeoutReason,
  type Work,
} from './work.ts';

type Attempt =
  | { readonly kind: 'succeeded'; readonly report: DevReport; readonly captured: Record<string, string> }
  /** `status` is the dev's own word where it gave one, else what the engine found. */
  | { readonly kind: 'failed'; readonly status: string; readonly reason: string; readonly final?: boolean }
  | { readonly kind: 'trouble'; readonly reason: string }
  | { readonly kind: 'aborted' };

/** One dev on one item-task: up to three attempts, counted here and not by what the agent says. */
export async function performDev(work: Work): Promise<Outcome> {
  const { order } = work;
  const started = performance.now();
  const subject = { task: order.task, index: order.item.index, item: order.item.id };
  work.emit({ type: 'dev:started', ...subject, agent: order.settings.agent, key: order.key, version: order.version });

  const tally: Tally = { usage: {}, compacted: false, verdicts: [] };
  let number = 1;
  let last = firstObstacle(work);
  if (!last) {
    await using session = await openSession(work, () => number);
    for (;;) {
      last = await attempt(work, session, number, last?.kind === 'failed' ? last.reason : undefined, tally);
      const status = last.kind === 'succeeded' ? 'SUCCESS' : last.kind === 'failed' ? last.status : last.kind;
      const reason = 'reason' in last ? { reason: last.reason } : {};
      // What was given back used up no attempt (rule X5).
      const isAttempt = last.kind === 'succeeded' || last.kind === 'failed';
      if (isAttempt) work.emit({ type: 'attempt:finished', ...subject, attempt: number, status, ...reason });
      if (last.kind !== 'failed' || last.final || number === ATTEMPTS) break;
      number++;
    }
  }
  const outcome = outcomeOf(work, last, number, tally);
  work.emit({
    type: 'dev:finished',
    ...subject,
    status: last.kind === 'succeeded' ? 'SUCCESS' : last.kind === 'failed' ? last.status : last.kind,
    attempts: number,
    ms: Math.round(performance.now() - started),
    key: order.key,
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    captured: outcome.captured,
    recommendations: [...outcome.recommendations],
    usage: outcome.usage,
    compacted: outcome.compacted,
  });
  return outcome;
}

interface Tally {
  usage: Usage;
  compacted: boolean;
  verdicts: readonly CriterionVerdict[];
}

function firstObstacle(work: Work): Attempt | undefined {
  const reason = missingFolder(work);
  return reason === undefined ? undefined : { kind: 'failed', status: 'FAILED', reason, final: true };
}

async function attempt(
  work: Work,
  session: Session,
  number: number,
  before: string | undefined,
  tally: Tally,
): Promise<Attempt> {
  const answer = await session.ask({
    prompt: resolveText(
      devPrompt(work.order, { number, ...(before === undefined ? {} : { before }) }),
      work.agents.secrets,
    ),
    steps: work.order.steps.map((step) => ({
      number: step.number,
      scripts: step.scripts.map((script) => resolveScript(script, work.agents.secrets)),
    })),
    environment: environmentOf(work, number),
  });
  // Asked however it ended, so that the next attempt is not blamed for what this one did.
  const trespass = await work.checks.trespass();
  const report = await reportOf(work, answer, tally);
  const isOver = 'kind' in report && report.kind !== 'failed';
  if (trespass !== undefined && !isOver) return failed('FAILED (validation)', trespass);
  if ('kind' in report) return report;
  if (report.status !== 'SUCCESS') {
    return failed(report.status, report.reason ?? 'no reason was given');
  }
  return verify(work, number, report, tally);
}

/** A report that can be used, or how the attempt ended without one. */
async function reportOf(work: Work, answer: Answer, tally: Tally): Promise<DevReport | Attempt> {
  switch (answer.kind) {
    case 'aborted':
      return aborted(work);
    case 'trouble':
      return answer;
    case 'failed':
      return { kind: 'failed', status: 'FAILED', reason: answer.reason };
    case 'report': {
      tally.usage = sum(tally.usage, answer.usage);
      tally.compacted ||= answer.compacted ?? false;
      const report = await readDevReport(answer.report, work.order.key);
      if ('unusable' in report)
        return { kind: 'failed', status: 'FAILED', reason: `no usable report: ${report.unusable}` };
      tally.usage = sum(tally.usage, report.usage);
      tally.compacted ||= report.compacted;
      return report;
    }
  }
}

/** The dev says that it is done: now the engine looks for itself. */
async function verify(work: Work, number: number, report: DevReport, tally: Tally): Promise<Attempt> {
  const captured = { ...(await readCaptured(work, number)), ...report.captured };
  const missing = work.order.settings.outputs.filter((name) => captured[name] === undefined);
  if (missing.length > 0) {
    const reason = `the declared output ${missing.map((name) => `\`${name}\``).join(', ')} is missing`;
    return failed('FAILED (validation)', reason);
  }
  const unwritable = work.order.settings.outputs.map((name) => unfit(work, name, captured[name]!)).find(Boolean);
  if (unwritable) return failed('FAILED (validation)', unwritable);
  const checked = await runChecks(work, number);
  if (checked.kind === 'aborted') return aborted(work);
  if (checked.kind === 'trouble') return checked;
  tally.verdicts = checked.verdicts;
  if (checked.verdicts.some((each) => each.status === 'FAIL')) {
    return failed('FAILED (validation)', describeFailures(checked.verdicts), checked.final);
  }
  return { kind: 'succeeded', report, captured };
}

/** Why a value can't stand in the table: it could not be read again, or would be a secret at rest. */
function unfit(work: Work, name: string, value: string): string | undefined {
  if (value.includes('\0')) return `the output \`${name}\` holds a NUL byte`;
  if (Buffer.byteLength(value) > LARGEST_CELL) return `the output \`${name}\` is larger than a cell can be (1 MiB)`;
  if (work.mask.text(value) !== value)
    return `the output \`${name}\` holds a value of .env, which must not stand in the table`;
  return undefined;
}

/** The reason says by itself where it failed: it is what `status` prints. */
function failed(status: string, detail: string, final = false): Attempt {
  return { kind: 'failed', status, reason: `${status}: ${detail}`, final };
}

/** Time that is over is final for the item; a run that stops is not the item's fault. */
function aborted(work: Work): Attempt {
  return work.limit.aborted
    ? { kind: 'failed', status: 'FAILED', reason: timeoutReason(work), final: true }
    : { kind: 'aborted' };
}

function outcomeOf(work: Work, last: Attempt, attempts: number, tally: Tally): Outcome {
  const { item, token, settings } = work.order;
  const common = { role: 'dev' as const, id: item.id, token, attempts, ...tally };
  const nothing = { outputs: {}, captured: {}, recommendations: [] };
  switch (last.kind) {
    case 'succeeded': {
      const { captured, report } = last;
      const outputs = Object.fromEntries(settings.outputs.map((name) => [name, captured[name]!]));
      return { ...common, to: 'qa', outputs, captured, recommendations: report.recommendations };
    }
    case 'failed':
      return { ...common, ...nothing, to: 'failed', reason: last.reason };
    case 'trouble':
      return { ...common, ...nothing, reason: last.reason };
    case 'aborted':
      return { ...common, ...nothing, reason: 'stopped' };
  }
}
