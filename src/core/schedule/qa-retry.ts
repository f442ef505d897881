import type { CriterionVerdict, Settings } from '../model/model.ts';

/** What the dev of an item-task has used up when a qa judges it. */
export interface DevUsage {
  readonly attempts: number;
  readonly ms: number;
  /** How often a qa has sent the item back. */
  readonly qaRetries: number;
}

/** Whether an item that a qa fails goes back to its dev: attempts, time and `qa-retries` must all be left. */
export function mayGoBack(
  { qaRetries, attempts, timeoutMs }: Pick<Settings, 'qaRetries' | 'attempts' | 'timeoutMs'>,
  used: DevUsage,
): boolean {
  return used.qaRetries < qaRetries && used.attempts < attempts && used.ms < timeoutMs;
}

/** What the dev is told about the verdict: each failed criterion, and why. */
export function verdictText(verdicts: readonly CriterionVerdict[], overall = 'no reason was given'): string {
  const failed = verdicts.filter(({ status }) => status === 'FAIL');
  if (failed.length === 0) return overall;
  return failed
    .map(({ criterion, reason }) => `- ${criterion.trim()}\n  ${reason ?? 'no reason was given'}`)
    .join('\n');
}
