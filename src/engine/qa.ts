import type { Criterion, CriterionVerdict, Outcome, Trouble, Usage } from '../core/model.ts';
import { resolveText } from '../core/template.ts';
import { qaPrompt } from '../roles/prompt.ts';
import { readQaReport } from '../roles/report.ts';
import { REPORT_SCHEMA } from '../roles/schema.ts';
import {
  agentEnvironmentOf,
  type Checked,
  converse,
  criterionText,
  describeFailures,
  failedCriterion,
  missingFolder,
  runChecks,
  timeoutReason,
  type Work,
} from './work.ts';

/** Rule Q4: a qa without a usable verdict is asked once more. */
const ASKED_AT_MOST = 2;

type Judgement =
  /** `failure`: the overall verdict is FAIL although no single criterion says why. */
  | { readonly kind: 'judged'; readonly verdicts: readonly CriterionVerdict[]; readonly failure?: string | undefined }
  | { readonly kind: 'none'; readonly reason: string; readonly place: string }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

/** One qa on one item-task: the checks first, then an independent agent about what no check can tell. */
export async function performQa(work: Work): Promise<Outcome> {
  const { order } = work;
  const started = performance.now();
  const subject = { task: order.task, index: order.item.index, item: order.item.id };
  work.emit({ type: 'qa:started', ...subject, agent: order.settings.agent, key: order.key });
  const spent: Spent = { usage: {}, compacted: false };
  const judgement = await judge(work, spent);
  const verdicts = judgement.kind === 'judged' ? judgement.verdicts : [];
  const failure = failureIn(judgement);
  const passed = failure === undefined;
  const told = failure === undefined ? {} : { reason: failure, ...placeOf(work, judgement) };
  work.emit({
    type: 'qa:finished',
    ...subject,
    status: passed ? 'PASS' : judgement.kind === 'trouble' ? 'NONE' : 'FAIL',
    ms: Math.round(performance.now() - started),
    ...told,
    verdicts: [...verdicts],
    usage: spent.usage,
    key: order.key,
  });
  return {
    role: 'qa',
    id: order.item.id,
    token: order.token,
    attempts: 1,
    ...(judgement.kind === 'trouble'
      ? { trouble: judgement.trouble }
      : { to: passed ? ('done' as const) : ('failed' as const) }),
    ...told,
    verdicts,
    outputs: {},
    captured: {},
    recommendations: [],
    ...spent,
  };
}

interface Spent {
  usage: Usage;
  compacted: boolean;
}

/** What stands in the way of `done`, if anything does. */
function failureIn(judgement: Judgement): string | undefined {
  if (judgement.kind === 'judged') return describeFailures(judgement.verdicts) || judgement.failure;
  return judgement.kind === 'trouble' ? judgement.trouble.reason : judgement.reason;
}

/** Trouble is no place: the item is not failed. */
function placeOf(work: Work, judgement: Judgement): { place?: string } {
  if (judgement.kind === 'trouble') return {};
  if (judgement.kind === 'none') return { place: judgement.place };
  return { place: failedCriterion(work, judgement.verdicts) ?? 'verdict' };
}

async function judge(work: Work, spent: Spent): Promise<Judgement> {
  const obstacle = await missingFolder(work);
  if (obstacle !== undefined) return { kind: 'none', reason: obstacle, place: 'working-dir' };
  const checked = await checksOf(work);
  if (checked.kind === 'aborted') return stopped(work);
  if (checked.kind === 'trouble') return { kind: 'trouble', trouble: { reason: checked.reason } };
  const asked = work.order.criteria.filter((each) => !each.check || work.order.settings.qa === 'always');
  if (asked.length === 0) return { kind: 'judged', verdicts: checked.verdicts };
  const answered = await ask(work, asked, spent);
  // What a check found stands beside the agent's opinion: no agent can overrule it.
  return answered.kind === 'judged' ? { ...answered, verdicts: [...checked.verdicts, ...answered.verdicts] } : answered;
}

async function ask(work: Work, asked: readonly Criterion[], spent: Spent): Promise<Judgement> {
  const { order, agents } = work;
  const criteria = asked.map((criterion) => criterionText(work, criterion));
  const texts = asked.map(({ text }) => text);
  let time = 1;
  await using conversation = converse(work, () => time);
  let reason = '';
  for (; time <= ASKED_AT_MOST; time++) {
    const reply = await conversation.ask(
      {
        whole: () => resolveText(qaPrompt(order, texts), agents.secrets),
        schema: REPORT_SCHEMA.qa,
        steps: [],
        environment: agentEnvironmentOf(work, time),
      },
      (raw) => readQaReport(raw, criteria),
    );
    spent.usage = conversation.usage;
    spent.compacted = conversation.compacted;
    const trespass = await work.checks.trespass(conversation.takeCalls());
    if (reply.kind === 'aborted') return stopped(work);
    if (reply.kind === 'trouble') return reply;
    if (trespass !== undefined) reason = `its verdict is void: ${trespass}`;
    else if (reply.kind === 'report') {
      return { kind: 'judged', verdicts: reply.report.verdicts, failure: reply.report.reason };
    } else reason = reply.reason;
    // It was asked for its report twice already.
    if (reply.kind === 'unusable' && conversation.remembers) break;
  }
  return { kind: 'none', reason: `qa gave no usable verdict: ${reason}`, place: 'verdict' };
}

/** Right after its dev the passing run of the checks is the verdict; on a resumed item they are run again. */
async function checksOf(work: Work): Promise<Checked> {
  if (!work.order.checksPassed) return runChecks(work, 1);
  const verdicts = work.order.criteria
    .filter((each) => each.check)
    .map((each) => ({ criterion: criterionText(work, each), status: 'PASS' as const, checked: true }));
  return { kind: 'checked', verdicts, final: false };
}

function stopped(work: Work): Judgement {
  return work.limit.aborted
    ? { kind: 'none', reason: `qa ${timeoutReason(work)}`, place: 'timeout of qa' }
    : { kind: 'trouble', trouble: { reason: 'stopped' } };
}
