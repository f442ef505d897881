import { sum } from '../core/history.ts';
import type { Criterion, CriterionVerdict, Outcome, Usage } from '../core/model.ts';
import { resolveText } from '../core/template.ts';
import { qaPrompt } from '../roles/prompt.ts';
import { readQaReport } from '../roles/report.ts';
import {
  type Checked,
  criterionText,
  describeFailures,
  environmentOf,
  missingFolder,
  openSession,
  runChecks,
  timeoutReason,
  type Work,
} from './work.ts';

/** Rule Q4: a qa without a usable verdict is asked once more. */
const ASKED_AT_MOST = 2;

type Judgement =
  /** `failure`: the overall verdict is FAIL although no single criterion says why. */
  | { readonly kind: 'judged'; readonly verdicts: readonly CriterionVerdict[]; readonly failure?: string | undefined }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'trouble'; readonly reason: string };

/** One qa on one item-task: the checks first, then an independent agent about what no check can tell. */
export async function performQa(work: Work): Promise<Outcome> {
  const { order } = work;
  const started = performance.now();
  const subject = { task: order.task, index: order.item.index, item: order.item.id };
  work.emit({ type: 'qa:started', ...subject, agent: order.settings.agent, key: order.key });
  const spent: { usage: Usage; compacted: boolean } = { usage: {}, compacted: false };
  const judgement = await judge(work, spent);
  const verdicts = judgement.kind === 'judged' ? judgement.verdicts : [];
  const failure = judgement.kind === 'judged' ? describeFailures(verdicts) || judgement.failure : judgement.reason;
  const passed = failure === undefined;
  const reason = failure ?? '';
  work.emit({
    type: 'qa:finished',
    ...subject,
    status: passed ? 'PASS' : judgement.kind === 'trouble' ? 'NONE' : 'FAIL',
    ms: Math.round(performance.now() - started),
    ...(passed ? {} : { reason }),
    verdicts: [...verdicts],
    usage: spent.usage,
    key: order.key,
  });
  return {
    role: 'qa',
    id: order.item.id,
    token: order.token,
    attempts: 1,
    ...(judgement.kind === 'trouble' ? {} : { to: passed ? ('done' as const) : ('failed' as const) }),
    ...(passed ? {} : { reason }),
    verdicts,
    outputs: {},
    captured: {},
    recommendations: [],
    ...spent,
  };
}

async function judge(work: Work, spent: { usage: Usage; compacted: boolean }): Promise<Judgement> {
  const obstacle = missingFolder(work);
  if (obstacle !== undefined) return { kind: 'none', reason: obstacle };
  const checked = await checksOf(work);
  if (checked.kind === 'aborted') return stopped(work);
  if (checked.kind === 'trouble') return checked;
  const asked = work.order.criteria.filter((each) => !each.check || work.order.settings.qa === 'always');
  if (asked.length === 0) return { kind: 'judged', verdicts: checked.verdicts };
  const answered = await ask(work, asked, spent);
  // What a check found stands beside the agent's opinion: no agent can overrule it.
  return answered.kind === 'judged' ? { ...answered, verdicts: [...checked.verdicts, ...answered.verdicts] } : answered;
}

async function ask(
  work: Work,
  asked: readonly Criterion[],
  spent: { usage: Usage; compacted: boolean },
): Promise<Judgement> {
  let reason = '';
  const prompt = qaPrompt(
    work.order,
    asked.map(({ text }) => text),
  );
  const criteria = asked.map((criterion) => criterionText(work, criterion));
  for (let time = 1; time <= ASKED_AT_MOST; time++) {
    await using session = await openSession(work, () => time);
    const answer = await session.ask({
      prompt: resolveText(prompt, work.agents.secrets),
      steps: [],
      environment: environmentOf(work, time),
    });
    const trespass = await work.checks.trespass();
    if (answer.kind === 'aborted') return stopped(work);
    if (answer.kind === 'trouble') return answer;
    if (answer.kind === 'failed') {
      reason = answer.reason;
      continue;
    }
    spent.usage = sum(spent.usage, answer.usage);
    spent.compacted ||= answer.compacted ?? false;
    if (trespass !== undefined) {
      reason = `its verdict is void: ${trespass}`;
      continue;
    }
    const report = await readQaReport(answer.report, criteria);
    if ('unusable' in report) {
      reason = report.unusable;
      continue;
    }
    spent.usage = sum(spent.usage, report.usage);
    return { kind: 'judged', verdicts: report.verdicts, failure: report.reason };
  }
  return { kind: 'none', reason: `qa gave no usable verdict: ${reason}` };
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
    ? { kind: 'none', reason: `qa ${timeoutReason(work)}` }
    : { kind: 'trouble', reason: 'stopped' };
}
