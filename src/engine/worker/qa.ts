import { resolveProse } from '../../core/language/template.ts';
import { votesIn } from '../../core/learning/votes.ts';
import type { ReportedVote } from '../../core/model/events.ts';
import { QA_TIMEOUT } from '../../core/model/failure-point.ts';
import type { FolderChanges } from '../../core/model/folder-watch.ts';
import type { Criterion, CriterionVerdict, Outcome, Trouble, Usage } from '../../core/model/model.ts';
import { askedCriteria } from '../../core/model/order.ts';
import { qaPrompt } from '../../roles/prompt.ts';
import { readQaReport } from '../../roles/report.ts';
import { enterPlace } from './place.ts';
import { type CheckOutcome, criterionText, describeFailures, failedCriterion, runChecks } from './run-checks.ts';
import {
  agentEnvironmentOf,
  converse,
  GIVEN_BACK,
  lastChanceMissed,
  timeoutReason,
  trespassOf,
  type Work,
} from './work.ts';

/** Rule Q4: a qa without a usable verdict is asked once more. */
const ASKED_AT_MOST = 2;

/** How many changed files are named: in the reason, and in the journal for undoing them. */
const FILES_NAMED = 3;
const FILES_TOLD = 1000;

type Judgement =
  | {
      readonly kind: 'judged';
      readonly verdicts: readonly CriterionVerdict[];
      /** The overall verdict is FAIL, although no criterion failed. */
      readonly failure?: string | undefined;
      /** An earlier verdict was void because files changed: what the checks found then may no longer hold. */
      readonly isChanged?: boolean;
      readonly votes?: readonly ReportedVote[];
    }
  | { readonly kind: 'none'; readonly reason: string; readonly failurePoint: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

/** One qa on one item-task: first the checks, then an independent agent judges the criteria without a check. */
export async function performQa(work: Work): Promise<Outcome> {
  const { order } = work;
  const started = work.site.clock.elapsed();
  const subject = { task: order.task, index: order.item.index, item: order.item.id };
  work.emit({ type: 'qa:started', ...subject, agent: order.settings.agent, key: order.key });
  const session: Session = { usage: {}, compacted: false };
  const judgement = await judgeInPlace(work, session);
  const { model, ...spent } = session;
  const verdicts = judgement.kind === 'judged' ? judgement.verdicts : [];
  const failure = failureIn(judgement);
  const passed = failure === undefined;
  const { votes = [] } = judgement.kind === 'judged' ? judgement : {};
  const told = failure === undefined ? {} : { reason: failure };
  const failurePoint = failure === undefined ? undefined : failurePointOf(work, judgement);
  work.emit({
    type: 'qa:finished',
    ...subject,
    status: passed ? 'PASS' : judgement.kind === 'trouble' ? 'NONE' : 'FAIL',
    ms: Math.round(work.site.clock.elapsed() - started),
    ...told,
    ...(failurePoint === undefined ? {} : { failurePoint }),
    verdicts: [...verdicts],
    usage: spent.usage,
    key: order.key,
    ...(model === undefined ? {} : { model }),
    ...(votes.length > 0 && { votes: [...votes] }),
  });
  return {
    role: 'qa',
    id: order.item.id,
    token: order.token,
    attempts: 1,
    ...(judgement.kind === 'trouble'
      ? { trouble: judgement.trouble }
      : { to: passed ? ('done' as const) : ('failed' as const) }),
    ...(judgement.kind === 'judged' ? { isVerdict: true as const } : {}),
    ...told,
    ...(failurePoint === undefined ? {} : { failurePoint }),
    verdicts,
    outputs: {},
    captured: {},
    recommendations: [],
    ...spent,
  };
}

/** What a session leaves behind. */
interface Session {
  usage: Usage;
  compacted: boolean;
  model?: string | undefined;
}

/** Why the item is not `done`, if so. */
function failureIn(judgement: Judgement): string | undefined {
  if (judgement.kind === 'judged') return describeFailures(judgement.verdicts) || judgement.failure;
  return judgement.kind === 'trouble' ? judgement.trouble.reason : judgement.reason;
}

/** Undefined for trouble: then the item has not failed. */
function failurePointOf(work: Work, judgement: Judgement): string | undefined {
  if (judgement.kind === 'trouble') return undefined;
  if (judgement.kind === 'none') return judgement.failurePoint;
  return failedCriterion(work, judgement.verdicts) ?? 'verdict';
}

async function judgeInPlace(work: Work, session: Session): Promise<Judgement> {
  // The verdict is known without opening the workspace, which may be on another machine.
  const isKnown = work.order.checksPassed === true && askedCriteria(work.order).length === 0;
  if (isKnown && work.order.workspace === undefined) return { kind: 'judged', verdicts: passedChecks(work) };
  if (work.order.carried?.isJudged) return { kind: 'judged', verdicts: [] };
  const place = await enterPlace(work);
  if (place.kind === 'placed') {
    using _entered = place;
    if (place.work.workspace?.isJudged) return { kind: 'judged', verdicts: [] };
    return await judge(place.work, session);
  }
  if (place.kind === 'trouble') return troubled(work, place.trouble);
  return place.kind === 'aborted' ? stopped(work) : { ...place, kind: 'none' };
}

async function judge(work: Work, session: Session): Promise<Judgement> {
  const checked = await checksOf(work);
  if (checked.kind !== 'checked') return notChecked(work, checked);
  const asked = askedCriteria(work.order);
  if (asked.length === 0) return { kind: 'judged', verdicts: checked.verdicts };
  const answered = await ask(work, asked, session);
  if (answered.kind !== 'judged') return answered;
  const final = answered.isChanged ? await runChecks(work, 1) : checked;
  if (final.kind !== 'checked') return notChecked(work, final);
  // The results of checks are kept: no agent can overrule them.
  return { ...answered, verdicts: [...final.verdicts, ...answered.verdicts] };
}

function notChecked(work: Work, checked: Exclude<CheckOutcome, { kind: 'checked' }>): Judgement {
  return checked.kind === 'aborted' ? stopped(work) : troubled(work, checked.trouble);
}

async function ask(work: Work, asked: readonly Criterion[], session: Session): Promise<Judgement> {
  const { order, site } = work;
  const criteria = asked.map((criterion) => criterionText(work, criterion));
  const texts = asked.map(({ text }) => text);
  let time = 1;
  await using conversation = converse(work, () => time);
  let reason = '';
  let isChanged = false;
  for (; time <= ASKED_AT_MOST; time++) {
    // After a change, no other qa judges there at the same time, to avoid blaming it for the other's changes.
    using watch = await site.folders.watch({
      folder: work.folder,
      protect: order.settings.protect,
      alone: isChanged,
      isWorkspace: work.workspace !== undefined,
      signal: work.signal,
    });
    const reply = await conversation.ask(
      {
        whole: () => resolveProse(qaPrompt(order, texts), site.secrets),
        steps: [],
        environment: agentEnvironmentOf(work, time),
      },
      (raw) => readQaReport(raw, criteria, work.mask),
    );
    const { usage, compacted, model } = conversation;
    Object.assign(session, { usage, compacted, model });
    const wasAskedTwice = reply.kind === 'unusable' && conversation.remembers;
    // The session ends before the files are compared.
    await conversation.forget();
    const trespass = await trespassOf(work, conversation.takeCalls());
    if (reply.kind === 'aborted') return stopped(work);
    const changes = await watch.changes();
    isChanged ||= changes.files.length > 0;
    const voided = trespass ?? describeChanges(changes);
    if (voided !== undefined) tellVoid(work, voided, changes.files);
    if (reply.kind === 'trouble') return troubled(work, reply.trouble);
    if (voided !== undefined) reason = `its verdict is void: ${voided}`;
    else if (reply.kind === 'report') {
      const { verdicts, votes, reason: failure } = reply.report;
      return { kind: 'judged', verdicts, failure, isChanged, votes: votesIn(order, { status: '', votes }) };
    } else reason = reply.reason;
    if (wasAskedTwice) break;
  }
  return { kind: 'none', reason: `qa gave no usable verdict: ${reason}`, failurePoint: 'verdict' };
}

/** Rule Q2: why a verdict is void. */
function describeChanges({ files, isShared }: FolderChanges): string | undefined {
  if (files.length === 0) return undefined;
  const more = files.length > FILES_NAMED ? ` (and ${files.length - FILES_NAMED} more)` : '';
  return `it${isShared ? ', or another qa in the same folder,' : ''} changed ${files.slice(0, FILES_NAMED).join(', ')}${more}`;
}

function tellVoid({ emit, order }: Work, reason: string, changed: readonly string[]): void {
  const { task, item } = order;
  const subject = { task, index: item.index, item: item.id };
  emit({ type: 'verdict:voided', ...subject, reason, changed: changed.slice(0, FILES_TOLD) });
}

/** Right after its dev, the passing checks are the verdict; for a resumed item they run again. */
async function checksOf(work: Work): Promise<CheckOutcome> {
  if (!work.order.checksPassed) return runChecks(work, 1);
  return { kind: 'checked', verdicts: passedChecks(work), final: false };
}

function passedChecks(work: Work): CriterionVerdict[] {
  return work.order.criteria
    .filter((each) => each.check)
    .map((each) => ({ criterion: criterionText(work, each), status: 'PASS' as const, checked: true }));
}

function troubled(work: Work, trouble: Trouble): Judgement {
  const reason = lastChanceMissed(work, trouble);
  return reason === undefined ? { kind: 'trouble', trouble } : { kind: 'none', reason, failurePoint: GIVEN_BACK };
}

function stopped(work: Work): Judgement {
  return work.timeout.aborted
    ? { kind: 'none', reason: `qa ${timeoutReason(work)}`, failurePoint: QA_TIMEOUT }
    : { kind: 'trouble', trouble: { reason: 'stopped' } };
}
