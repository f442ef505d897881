import type { GroupingAnswer } from '../core/learning/grouping.ts';
import type { ReportedVote } from '../core/model/events.ts';
import { type CriterionVerdict, LONGEST_REASON } from '../core/model/model.ts';
import { normalise } from '../core/text/likeness.ts';
import type { Mask } from '../core/text/mask.ts';
import { shorten } from '../core/text/shorten.ts';
import { forms, MOST_ENTRIES, problemIn } from './forms.ts';

/** Reads what agents answer (rules D4, Q3). An answer that does not have the form is no report, and never a success. */
export interface Unusable {
  /** A short sentence that names the field; it becomes the reason of the attempt. */
  readonly unusable: string;
}

export interface DevReport {
  readonly status: 'SUCCESS' | 'FAILED (validation)' | `FAILED (step ${number})`;
  /** Why it failed; absent with `SUCCESS`. */
  readonly reason?: string;
  readonly captured: Readonly<Record<string, string>>;
  readonly selfValidation: readonly CriterionVerdict[];
  readonly recommendations: readonly string[];
  readonly votes: readonly ReportedVote[];
  readonly compacted: boolean;
}

export interface QaReport {
  readonly status: 'PASS' | 'FAIL';
  readonly reason?: string;
  /** One for each criterion that was asked, in order; then other criteria that failed. */
  readonly verdicts: readonly CriterionVerdict[];
  readonly votes: readonly ReportedVote[];
}

/** Loads what reads a report, while the agent works. */
export function expectReport(): void {
  forms();
}

/** Masks texts, then cuts them. A report with the `key` of another item is refused. */
export function readDevReport(raw: unknown, expectedKey: string, mask: Mask): DevReport | Unusable {
  const parsed = forms().devReader.safeParse(raw);
  if (!parsed.success) return { unusable: problemIn(parsed.error) };
  const report = parsed.data;
  if (report.key !== '' && report.key !== expectedKey) return { unusable: 'the key is that of another item' };

  const cut = cutter(mask);
  const selfValidation = someVerdicts(report.self_validation).map((entry) => toVerdict(entry, cut));
  const failed = selfValidation.filter(isFail);
  // A dev that saw a criterion fail did not succeed, whatever its overall status says.
  const succeeded = report.overall_status === 'SUCCESS' && failed.length === 0;
  const status = report.overall_status === 'SUCCESS' && !succeeded ? 'FAILED (validation)' : report.overall_status;
  return {
    status: status as DevReport['status'],
    ...(succeeded ? {} : { reason: cut(report.error ?? '') || reasonsOf(failed) || 'no reason was given' }),
    captured: Object.fromEntries(report.captured_values.map(({ name, value }) => [name, value])),
    selfValidation,
    recommendations: report.recommendations
      .slice(0, MOST_ENTRIES)
      .map(cut)
      .filter((text) => !/^(none\.?)?$/i.test(text)),
    votes: toVotes(report.lessons, cut),
    compacted: report.compacted ?? false,
  };
}

/** `criteria`: the texts that were asked. Each gets a verdict; one without an answer fails (rule Q3). */
export function readQaReport(raw: unknown, criteria: readonly string[], mask: Mask): QaReport | Unusable {
  const parsed = forms().form.qa.safeParse(raw);
  if (!parsed.success) return { unusable: problemIn(parsed.error) };
  const { overall_status: overall, summary, criteria: entries, lessons } = parsed.data;
  const isMissing = (raw as { criteria?: unknown }).criteria == null;
  if (isMissing && overall === 'PASS') return { unusable: 'criteria is missing' };

  const cut = cutter(mask);
  const given = someVerdicts(entries, Math.max(MOST_ENTRIES, criteria.length)).map((entry) => toVerdict(entry, cut));
  const verdicts = matchVerdicts(criteria.map(cut), given);
  const votes = toVotes(lessons, cut);
  const failed = verdicts.filter(isFail);
  if (overall === 'PASS' && failed.length === 0) return { status: 'PASS', verdicts, votes };
  const explained = given.some(isFail) || overall === 'PASS';
  const reason = (!explained && cut(summary)) || reasonsOf(failed) || 'the overall verdict is FAIL, without a reason';
  return { status: 'FAIL', reason, verdicts, votes };
}

export function readManagerReport(raw: unknown): GroupingAnswer | Unusable {
  const parsed = forms().form.manager.safeParse(raw);
  if (!parsed.success) return { unusable: problemIn(parsed.error) };
  const { lessons, summary } = parsed.data;
  return { lessons, summary: shorten(summary.trim(), LONGEST_REASON) };
}

/** What a report says about lessons: at most once about each, and a `harmed` counts. */
function toVotes(
  entries: readonly { readonly id: string; readonly effect: ReportedVote['effect']; readonly reason: string }[],
  cut: (text: string) => string,
): ReportedVote[] {
  const votes = new Map<string, ReportedVote>();
  for (const { id, effect, reason } of entries.slice(0, MOST_ENTRIES)) {
    if (votes.get(id)?.effect !== 'harmed') votes.set(id, { lesson: id, effect, reason: cut(reason) });
  }
  return [...votes.values()];
}

/** Matches by exact text, then by similar text, then by position. Of several answers, a FAIL counts. */
function matchVerdicts(criteria: readonly string[], given: readonly CriterionVerdict[]): CriterionVerdict[] {
  const rules: ((asked: string, verdict: CriterionVerdict, position: number) => boolean)[] = [
    (asked, verdict) => verdict.criterion === asked,
    (asked, verdict) => loosely(verdict.criterion) !== '' && loosely(verdict.criterion) === loosely(asked),
    (_asked, verdict, position) => given.length === criteria.length && given[position] === verdict,
  ];
  const answers = criteria.map((): CriterionVerdict[] => []);
  for (const fits of rules) {
    const free = given.filter((verdict) => !answers.flat().includes(verdict));
    for (const [position, asked] of criteria.entries()) {
      if (answers[position]!.length === 0) answers[position] = free.filter((verdict) => fits(asked, verdict, position));
    }
  }
  const unasked = given.filter((verdict) => isFail(verdict) && !answers.flat().includes(verdict));
  const asked = criteria.map((criterion, position): CriterionVerdict => {
    const verdict = answers[position]!.find(isFail) ?? answers[position]![0];
    return verdict === undefined
      ? { criterion, status: 'FAIL', reason: 'Unable to verify: no verdict was given' }
      : { ...verdict, criterion };
  });
  return [...asked, ...unasked];
}

function loosely(criterion: string): string {
  return normalise(criterion.replace(/^\s*(\d+[.)]|[-*])\s+/, ''));
}

function isFail(verdict: CriterionVerdict): boolean {
  return verdict.status === 'FAIL';
}

function toVerdict(
  entry: { criterion: string; status: 'PASS' | 'FAIL'; reason: string },
  cut: (text: string) => string,
): CriterionVerdict {
  const { criterion, status } = entry;
  const reason = cut(entry.reason) || (status === 'FAIL' ? 'no reason was given' : undefined);
  return { criterion: cut(criterion), status, ...(reason === undefined ? {} : { reason }) };
}

function cutter(mask: Mask): (text: string) => string {
  return (text) => shorten(mask.text(text).trim(), LONGEST_REASON);
}

/** Of too many, the failed ones first: a cut must not turn a failure into a success. */
function someVerdicts<T extends { readonly status: 'PASS' | 'FAIL' }>(
  entries: readonly T[],
  most = MOST_ENTRIES,
): readonly T[] {
  if (entries.length <= most) return entries;
  const byStatus = (status: string) => entries.filter((entry) => entry.status === status);
  return [...byStatus('FAIL'), ...byStatus('PASS')].slice(0, most);
}

/** Longer criteria are cut: a terminal shows them in one line. */
const LONGEST_CRITERION = 100;

function reasonsOf(failed: readonly CriterionVerdict[]): string {
  const all = failed
    .map(({ criterion, reason }) => {
      const line = criterion.trim().replace(/\s+/g, ' ');
      return `${line.length > LONGEST_CRITERION ? `${line.slice(0, LONGEST_CRITERION - 3)}...` : line}: ${reason}`;
    })
    .join('; ');
  return shorten(all, LONGEST_REASON);
}
