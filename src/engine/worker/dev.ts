import { resolveProse } from '../../core/language/template.ts';
import { votesIn } from '../../core/learning/votes.ts';
import type { ReportedVote } from '../../core/model/events.ts';
import { type CriterionVerdict, LARGEST_CELL, type Outcome, type Trouble } from '../../core/model/model.ts';
import { askedCriteria, withOutputs } from '../../core/model/order.ts';
import { mayGoBack } from '../../core/schedule/qa-retry.ts';
import { retryDelay } from '../../core/schedule/retry-delay.ts';
import { devPrompt, devRetryPrompt } from '../../roles/prompt.ts';
import { type DevReport, readDevReport } from '../../roles/report.ts';
import type { Conversation, Reply } from './conversation.ts';
import {
  agentEnvironmentOf,
  boundCaptured,
  converse,
  describeFailures,
  failedCriterion,
  GIVEN_BACK,
  lastChanceMissed,
  missingFolder,
  readCaptured,
  runChecks,
  shortened,
  timeoutReason,
  toldVariables,
  trespassOf,
  type Work,
} from './work.ts';
import { resolveScript } from './worker-ports.ts';

type Attempt<T = DevReport> =
  | { readonly kind: 'succeeded'; readonly report: T; readonly captured: Record<string, string> }
  /** `status` is what the dev reported or, without a report, what the engine found. */
  | {
      readonly kind: 'failed';
      readonly status: string;
      readonly reason: string;
      readonly failurePoint: string;
      readonly final?: boolean;
    }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

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

  const { last, model, ...spent } = await tryAll(work, subject);
  const ms = (order.retry?.ms ?? 0) + Math.round(work.site.clock.elapsed() - started);
  const outcome = { ...outcomeOf(work, last, spent), ms };
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

/**
 * The transcript is complete before the dev is finished. Then the conversation ends, unless a qa may send the item
 * back: then it waits for the verdict.
 */
async function tryAll(work: Work, subject: object): Promise<Totals & { last: Attempt; model: string | undefined }> {
  const { attempts: maxAttempts, retryDelayMs } = work.order.settings;
  const { workplace } = work;
  const { retry } = work.order;
  let attempts = retry?.attempts ?? 0;
  workplace.conversation ??= converse(work, () => workplace.attempt);
  const { conversation } = workplace;
  const obstacle = missingFolder(work);
  let last: Attempt = {
    kind: 'failed',
    status: 'FAILED',
    reason: obstacle ?? '',
    failurePoint: 'working-dir',
    final: true,
  };
  let verdicts: readonly CriterionVerdict[] = [];
  let votes: ReportedVote[] = [];
  for (let number = attempts + 1; obstacle === undefined && number <= maxAttempts; number++) {
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

function statusOf(attempt: Attempt): string {
  if (attempt.kind === 'succeeded') return 'SUCCESS';
  return attempt.kind === 'failed' ? attempt.status : attempt.kind;
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

/** The dev says that it is done: the engine verifies it. */
export async function verify<T extends Pick<DevReport, 'captured'>>(
  work: Work,
  report: T,
  { number, onVerdicts }: Pick<Try, 'number' | 'onVerdicts'>,
): Promise<Attempt<T>> {
  const captured = { ...(await readCaptured(work, number)), ...report.captured };
  const missing = work.order.settings.outputs.filter((name) => !Object.hasOwn(captured, name));
  if (missing.length > 0) {
    const reason = `the declared output ${missing.map((name) => `\`${name}\``).join(', ')} is missing`;
    return failed('FAILED (validation)', reason, 'outputs');
  }
  const unwritable = work.order.settings.outputs.map((name) => unfit(work, name, captured[name]!)).find(Boolean);
  if (unwritable) return failed('FAILED (validation)', unwritable, 'outputs');
  const reported = { ...work, order: withOutputs(work.order, captured) };
  const checked = await runChecks(reported, number);
  if (checked.kind === 'aborted') return aborted(work);
  if (checked.kind === 'trouble') return troubled(work, checked.trouble);
  onVerdicts(checked.verdicts);
  const failurePoint = failedCriterion(reported, checked.verdicts);
  if (failurePoint !== undefined) {
    return failed('FAILED (validation)', describeFailures(checked.verdicts), failurePoint, checked.final);
  }
  return { kind: 'succeeded', report, captured: boundCaptured(work, captured) };
}

/** Why a value can't be in the table: it could not be read back, or would store a secret. */
function unfit(work: Work, name: string, value: string): string | undefined {
  if (value.includes('\0')) return `the output \`${name}\` holds a NUL byte`;
  if (Buffer.byteLength(value) > LARGEST_CELL) return `the output \`${name}\` is larger than a cell can be (1 MiB)`;
  if (work.mask.text(value) !== value)
    return `the output \`${name}\` contains a value of .env, which must not get into the table`;
  return undefined;
}

/** The reason names the failure point: `status` prints only the reason. */
function failed(
  status: string,
  detail: string,
  failurePoint: string,
  final = false,
): Exclude<Attempt, { kind: 'succeeded' }> {
  return { kind: 'failed', status, reason: `${status}: ${detail}`, failurePoint, final };
}

function troubled(work: Work, trouble: Trouble): Exclude<Attempt, { kind: 'succeeded' }> {
  const reason = lastChanceMissed(work, trouble);
  if (reason === undefined) return { kind: 'trouble', trouble };
  return { kind: 'failed', status: 'FAILED', reason, failurePoint: GIVEN_BACK, final: true };
}

/** A timeout is final for the item; a stop of the run is not the item's fault. */
function aborted(work: Work): Exclude<Attempt, { kind: 'succeeded' }> {
  return work.timeout.aborted
    ? { kind: 'failed', status: 'FAILED', reason: timeoutReason(work), failurePoint: 'timeout', final: true }
    : { kind: 'aborted' };
}

function outcomeOf(work: Work, last: Attempt, spent: Totals): Outcome {
  const { item, token, settings } = work.order;
  const common = { role: 'dev' as const, id: item.id, token, ...spent };
  const nothing = { outputs: {}, captured: {}, recommendations: [] };
  switch (last.kind) {
    case 'succeeded': {
      const { captured, report } = last;
      const outputs = Object.fromEntries(settings.outputs.map((name) => [name, captured[name]!]));
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
