import type { CheckResult } from '../../checks/checks.ts';
import { resolveProse } from '../../core/language/template.ts';
import { type Criterion, type CriterionVerdict, LONGEST_REASON, type Script } from '../../core/model/model.ts';
import { shorten } from '../../core/text/shorten.ts';
import { sandboxOf } from './confinement.ts';
import { environmentOf, transcriptOf, type Work } from './work.ts';
import { resolveScript } from './worker-ports.ts';

/** `final`: a check timed out, so there is no other attempt. */
export type CheckOutcome =
  | { readonly kind: 'checked'; readonly verdicts: readonly CriterionVerdict[]; readonly final: boolean }
  | Exclude<CheckResult, { kind: 'passed' | 'failed' }>;

/** How often the checks run if files that they rely on change each time. */
const CHECKED_AT_MOST = 3;

/** Runs the checks with protected files as they were at the start of the run; again if one changed meanwhile. */
export async function runChecks(work: Work, attempt: number): Promise<CheckOutcome> {
  let files: readonly string[] = [];
  for (let time = 1; time <= CHECKED_AT_MOST; time++) {
    const { result, changed, isSame } = await work.site.protection.observe(() => runEach(work, attempt));
    const isBelieved = changed.length === 0 || (isSame && time === CHECKED_AT_MOST);
    if (isBelieved || result.kind !== 'checked') return result;
    files = changed;
  }
  const reason = `protected files were changed each time that the checks ran: ${files.slice(0, 3).join(', ')}`;
  const remedy = 'if a check itself writes them, remove them from `protect`';
  // This item may cause it: others go first, and it is not retried forever.
  return { kind: 'trouble', trouble: { reason: `${reason}; ${remedy}`, isRequested: true } };
}

/** Runs the checks, each on its own (rules X2, Q3). */
async function runEach(work: Work, attempt: number): Promise<CheckOutcome> {
  const verdicts: CriterionVerdict[] = [];
  let final = false;
  const timeoutMs = work.order.settings.checkTimeoutMs;
  for (const criterion of work.order.criteria) {
    if (!criterion.check) continue;
    const name = `check: ${criterionText(work, criterion)}`;
    const result = await runScript(work, criterion.check, { name, attempt, timeoutMs });
    if (result.kind === 'aborted' || result.kind === 'trouble') return result;
    const judged = { criterion: maskedCriterion(work, criterion), checked: true };
    if (result.kind === 'passed') verdicts.push({ ...judged, status: 'PASS' });
    else {
      verdicts.push({ ...judged, status: 'FAIL', reason: result.reason });
      final ||= result.final;
    }
  }
  return { kind: 'checked', verdicts, final };
}

/** Runs a check or `setup`; both may write as a dev may. */
export async function runScript(
  work: Work,
  script: Script,
  { name, attempt, timeoutMs }: { readonly name: string; readonly attempt: number; readonly timeoutMs: number },
): Promise<CheckResult> {
  const { site, folder, mask, signal } = work;
  using transcript = transcriptOf(work, () => attempt);
  transcript.add({ kind: 'note', text: name });
  using timeout = site.clock.timeout(timeoutMs);
  using _writes = site.folders.enter(folder);
  return await site.check({
    script: resolveScript(script, site.secrets),
    ...{ folder, timeoutMs, mask, signal },
    environment: environmentOf(work, attempt),
    limit: timeout.signal,
    ...sandboxOf(work),
    onOutput: (stream, text) => transcript.add({ kind: stream === 'stdout' ? 'output' : 'error', text }),
  });
}

export function criterionText(work: Work, criterion: Criterion): string {
  return resolveProse(criterion.text, work.site.secrets);
}

/** The criterion as verdicts name it. */
function maskedCriterion(work: Work, criterion: Criterion): string {
  return shorten(work.mask.text(criterionText(work, criterion)).trim(), LONGEST_REASON);
}

/** The position of the first failed criterion: its text differs from item to item. */
export function failedCriterion(work: Work, verdicts: readonly CriterionVerdict[]): string | undefined {
  const failed = verdicts.find(({ status }) => status === 'FAIL');
  if (!failed) return undefined;
  const position = work.order.criteria.findIndex((each) => maskedCriterion(work, each) === failed.criterion);
  return position < 0 ? 'validation' : `criterion ${position + 1}`;
}

/** The failed criteria as one reason for `status` and `show`. */
export function describeFailures(verdicts: readonly CriterionVerdict[]): string {
  const failures = verdicts
    .filter((each) => each.status === 'FAIL')
    .map(({ criterion, reason }) => (reason ? `${firstLine(criterion)}: ${reason}` : firstLine(criterion)))
    .join('; ');
  return shorten(failures, LONGEST_REASON);
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.trim();
}
