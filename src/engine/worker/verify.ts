import { relative } from 'node:path';
import type { CriterionVerdict } from '../../core/model/model.ts';
import { withOutputs } from '../../core/model/order.ts';
import { violationOf } from '../../core/workspace/change.ts';
import { devOutputs, whyNoCell } from '../../core/workspace/outputs.ts';
import type { DevReport } from '../../roles/report.ts';
import { type Attempt, aborted, type FailedAttempt, failed, troubled } from './attempt.ts';
import { describeFailures, failedCriterion, runChecks } from './run-checks.ts';
import { boundCaptured, readCaptured, type Work } from './work.ts';

/** The dev says that it is done: the engine verifies it. */
export async function verify<T extends Pick<DevReport, 'captured'>>(
  work: Work,
  report: T,
  {
    number,
    onVerdicts,
  }: { readonly number: number; readonly onVerdicts: (verdicts: readonly CriterionVerdict[]) => void },
): Promise<Attempt<T>> {
  const captured = { ...(await readCaptured(work, number)), ...report.captured };
  const outputs = devOutputs(work.order);
  const missing = outputs.filter((name) => !Object.hasOwn(captured, name));
  if (missing.length > 0) {
    const reason = `the declared output ${missing.map((name) => `\`${name}\``).join(', ')} is missing`;
    return failed('FAILED (validation)', reason, 'outputs');
  }
  const unwritable = outputs.map((name) => unfit(work, name, captured[name]!)).find(Boolean);
  if (unwritable) return failed('FAILED (validation)', unwritable, 'outputs');
  const refused = await judgeChange(work);
  if (refused !== undefined) return refused;
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

/**
 * The result of the task is what the files hold now: what a check or a qa writes later is not part of it. Undefined
 * if the change is within its limits.
 */
async function judgeChange(work: Work): Promise<FailedAttempt | undefined> {
  const { workspace, signal, order } = work;
  if (!workspace) return undefined;
  const found = await workspace.change(signal);
  if (found.kind === 'aborted') return aborted(work);
  if (found.kind === 'trouble') return troubled(work, found.trouble);
  if (found.kind === 'failed') return failed('FAILED (validation)', found.reason, 'workspace');
  const { changeLimits, protect } = order.settings;
  const folder = relative(workspace.top, workspace.folder);
  const violation = violationOf(found.change, changeLimits, { folder, protect });
  return violation === undefined ? undefined : failed('FAILED (validation)', violation, 'change');
}

/** Why a value can't be in the table: it could not be read back, or would store a secret. */
function unfit(work: Work, name: string, value: string): string | undefined {
  const why = whyNoCell(value);
  if (why !== undefined) return `the output \`${name}\` ${why}`;
  if (work.mask.text(value) !== value)
    return `the output \`${name}\` contains a value of .env, which must not get into the table`;
  return undefined;
}
