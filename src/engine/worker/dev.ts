import { resolveProse } from '../../core/language/template.ts';
import { votesIn } from '../../core/learning/votes.ts';
import type { ReportedVote } from '../../core/model/events.ts';
import type { CriterionVerdict, Outcome } from '../../core/model/model.ts';
import { askedCriteria } from '../../core/model/order.ts';
import { mayGoBack } from '../../core/schedule/qa-retry.ts';
import { retryDelay } from '../../core/schedule/retry-delay.ts';
import type { CarriedResult } from '../../core/workspace/carried.ts';
import { devOutputs } from '../../core/workspace/outputs.ts';
import { devPrompt, devRetryPrompt } from '../../roles/prompt.ts';
import { type DevReport, readDevReport } from '../../roles/report.ts';
import { type Attempt, aborted, failed, statusOf, troubled } from './attempt.ts';
import type { Conversation, Reply } from './conversation.ts';
import { enterPlace, type Unplaced } from './place.ts';
import { failedCriterion } from './run-checks.ts';
import { verify } from './verify.ts';
import { agentEnvironmentOf, converse, shortened, toldVariables, trespassOf, type Work } from './work.ts';
import { resolveScript } from './worker-ports.ts';

/** One dev on one item-task, with up to `attempts` attempts. They are counted here, whatever the agent says. */
export async function performDev(work: Work): Promise<Outcome> {
  const { order } = work;
  const started = work.site.clock.elapsed();
  const subject = { task: order.task, index: order.item.index, item: order.item.id };
  const { agent, attempts: maxAttempts } = order.settings;
  const again = order.retry && { attempt: order.retry.attempts + 1 };
  const { key, version, isHeldOut } = order;
  const task = { agent, key, version, maxAttempts, ...(isHeldOut && { isHeldOut }) };
  work.emit({ type: 'dev:started', ...subject, ...again, ...task });

  const { last, model, carried, ...spent } = await workInPlace(work, subject);
  const ms = (order.retry?.ms ?? 0) + Math.round(work.site.clock.elapsed() - started);
  const outcome = { ...outcomeOf(work, last, spent), ms, ...(carried && { carried }) };
  work.emit({
    type: 'dev:finished',
    ...subject,
    status: statusOf(last),
    attempts: spent.attempts,
    ms,
    key: order.key,
    ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
    ...(outcome.failurePoint === undefined ? {} : { failurePoint: outcome.failurePoint }),
    captured: shortened(outcome.captured),
    recommendations: [...outcome.recommendations],
    usage: outcome.usage,
    compacted: outcome.compacted,
    agent,
    ...(model === undefined ? {} : { model }),
  });
  return outcome;
}

type Totals = Pick<Outcome, 'attempts' | 'verdicts' | 'usage' | 'compacted'>;

type Tried = Totals & {
  readonly last: Attempt;
  readonly model: string | undefined;
  readonly carried?: CarriedResult;
};

async function workInPlace(work: Work, subject: object): Promise<Tried> {
  const place = await enterPlace(work);
  if (place.kind === 'placed') {
    using _entered = place;
    const tried = await tryAll(place.work, subject);
    return tried.last.kind === 'succeeded' ? await sendResult(place.work, tried) : tried;
  }
  await work.workplace.endConversation();
  const attempts = work.order.retry?.attempts ?? 1;
  return { last: unplaced(work, place), attempts, verdicts: [], usage: {}, compacted: false, model: undefined };
}

/**
 * In a fleet, pushes the result to the relay before the success is reported. This does not count towards the timeout of
 * the item, and a failure is trouble of this worker.
 */
async function sendResult({ workspace, call }: Work, tried: Tried): Promise<Tried> {
  const sent = await workspace?.send?.(call.signal);
  if (sent === undefined) return tried;
  if (sent.kind === 'sent') return { ...tried, carried: sent.carried };
  if (sent.kind === 'aborted') return { ...tried, last: sent };
  const trouble = sent.kind === 'trouble' ? sent.trouble : { reason: sent.reason };
  return { ...tried, last: { kind: 'trouble', trouble: { ...trouble, isWorker: true } } };
}

/** A workspace that can't be made for this item is not made by another attempt. */
function unplaced(work: Work, why: Unplaced): Attempt {
  if (why.kind === 'trouble') return troubled(work, why.trouble);
  if (why.kind === 'aborted') return aborted(work);
  return { kind: 'failed', status: 'FAILED', final: true, reason: why.reason, failurePoint: why.failurePoint };
}

/**
 * The transcript is complete before the dev is finished. Then the conversation ends, unless a qa may send the item
 * back: then it waits for the verdict.
 */
async function tryAll(work: Work, subject: object): Promise<Tried> {
  const { attempts: maxAttempts, retryDelayMs } = work.order.settings;
  const { workplace } = work;
  const { retry } = work.order;
  let attempts = retry?.attempts ?? 0;
  workplace.conversation ??= converse(work, () => workplace.attempt);
  const { conversation } = workplace;
  let last: Attempt = { kind: 'aborted' };
  let verdicts: readonly CriterionVerdict[] = [];
  let votes: ReportedVote[] = [];
  for (let number = attempts + 1; number <= maxAttempts; number++) {
    // The first attempt of this order continues from the verdict, later ones from the previous attempt.
    const verdict = number === (retry?.attempts ?? 0) + 1 ? retry?.verdict : undefined;
    const before = number > 1 && last.kind === 'failed' ? last.reason : undefined;
    attempts = number;
    workplace.attempt = number;
    votes = [];
    last = await attempt(work, conversation, {
      number,
      ...(verdict !== undefined ? { verdict } : before === undefined ? {} : { before }),
      onReport: (report) => {
        votes = votesIn(work.order, report);
      },
      onVerdicts: (found) => {
        verdicts = found;
      },
    });
    // An item that is given back used up no attempt (rule X5).
    if (last.kind !== 'succeeded' && last.kind !== 'failed') break;
    const isOver = last.kind === 'succeeded' || last.final === true || number === maxAttempts;
    const waitMs = isOver ? 0 : retryDelay(retryDelayMs, number, work.site.random());
    const told = {
      ...(last.kind === 'failed' && { reason: last.reason }),
      ...(waitMs > 0 && { waitMs }),
      ...(votes.length > 0 && { votes }),
    };
    work.emit({ type: 'attempt:finished', ...subject, attempt: number, status: statusOf(last), maxAttempts, ...told });
    if (isOver) break;
    if (waitMs > 0 && !(await waitBeforeRetry(work, waitMs))) {
      last = aborted(work);
      break;
    }
    await work.site.shiftFiles?.confirm();
    const restored = await work.workspace?.restore(work.signal);
    // A program whose folder was removed can't work in the new one.
    if (restored?.kind === 'made') await conversation.forget();
    else if (restored && restored.kind !== 'there') {
      last = unplaced(work, restored);
      break;
    }
  }
  const { usage, compacted, model } = conversation;
  if (last.kind === 'succeeded' && mayComeBack(work, attempts)) {
    conversation.rest();
    work.keep();
  } else await workplace.endConversation();
  return { last, attempts: Math.max(1, attempts), verdicts, usage, compacted, model };
}

/** False: the run has to end, and no other attempt starts. */
function waitBeforeRetry({ site, signal, call }: Work, milliseconds: number): Promise<boolean> {
  return site.clock.sleep(milliseconds, AbortSignal.any([signal, call.drain]));
}

/** Whether a qa may send the item back to this session. */
function mayComeBack({ order, workplace }: Work, attempts: number): boolean {
  if (!workplace.conversation?.remembers || askedCriteria(order).length === 0) return false;
  return mayGoBack(order.settings, { attempts, ms: 0, qaRetries: order.retry?.qaRetries ?? 0 });
}

interface Try {
  readonly number: number;
  readonly before?: string;
  readonly verdict?: string;
  readonly onReport: (report: DevReport) => void;
  readonly onVerdicts: (verdicts: readonly CriterionVerdict[]) => void;
}

async function attempt(work: Work, conversation: Conversation, now: Try): Promise<Attempt> {
  const { order, site } = work;
  const { onVerdicts: _, onReport, ...known } = now;
  const told = { ...known, ...toldVariables(work, now.number) };
  const reply = await conversation.ask(
    {
      whole: () => resolveProse(devPrompt(order, told), site.secrets),
      ...(now.number === 1 ? {} : { next: () => resolveProse(devRetryPrompt(order, told), site.secrets) }),
      steps: order.steps.map((step) => ({
        number: step.number,
        scripts: step.scripts.map((script) => resolveScript(script, site.secrets)),
      })),
      environment: agentEnvironmentOf(work, now.number),
    },
    (raw) => readDevReport(raw, order.key, work.mask),
  );
  // Checked however the attempt ended, so that the next one is not blamed for it.
  const trespass = await trespassOf(work, conversation.takeCalls());
  if (reply.kind === 'aborted') return aborted(work);
  if (reply.kind === 'trouble') return troubled(work, reply.trouble);
  if (trespass !== undefined) return failed('FAILED (validation)', trespass, 'trespass');
  const report = reportIn(reply);
  if ('kind' in report) return report;
  onReport(report);
  if (report.status !== 'SUCCESS') {
    return failed(report.status, report.reason ?? 'no reason was given', failurePointOf(work, report));
  }
  return verify(work, report, now);
}

function reportIn(reply: Exclude<Reply<DevReport>, { kind: 'aborted' | 'trouble' }>): DevReport | Attempt {
  if (reply.kind === 'report') return reply.report;
  if (reply.kind === 'failed') return { kind: 'failed', status: 'FAILED', reason: reply.reason, failurePoint: 'agent' };
  return { kind: 'failed', status: 'FAILED', reason: `no usable report: ${reply.reason}`, failurePoint: 'report' };
}

/** The failure point that the dev itself reports. */
function failurePointOf(work: Work, { status, selfValidation }: DevReport): string {
  return /\((step \d+)\)/.exec(status)?.[1] ?? failedCriterion(work, selfValidation) ?? 'validation';
}

function outcomeOf(work: Work, last: Attempt, spent: Totals): Outcome {
  const { item, token } = work.order;
  const common = { role: 'dev' as const, id: item.id, token, ...spent };
  const nothing = { outputs: {}, captured: {}, recommendations: [] };
  switch (last.kind) {
    case 'succeeded': {
      const { captured, report } = last;
      const outputs = Object.fromEntries(devOutputs(work.order).map((name) => [name, captured[name]!]));
      return { ...common, to: 'qa', outputs, captured, recommendations: report.recommendations };
    }
    case 'failed':
      return { ...common, ...nothing, to: 'failed', reason: last.reason, failurePoint: last.failurePoint };
    case 'trouble':
      return { ...common, ...nothing, reason: last.trouble.reason, trouble: last.trouble };
    case 'aborted':
      return { ...common, ...nothing, reason: 'stopped' };
  }
}
