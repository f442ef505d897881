import type { Successes } from '../learning/holdout.ts';
import { count, listed } from '../text/count.ts';
import type { HoldoutResult, TaskLearning } from './learning.ts';

/** Whether lessons of a task help, in words. */
export function effectTexts({ firstAttempts, holdout, otherModel }: TaskLearning): string[] {
  const lines: string[] = [];
  if (firstAttempts) {
    const shares = firstAttempts.map((part) => (part.of === 0 ? '-' : percent(part)));
    lines.push(`done on the first attempt, by tenth of the table: ${shares.join(' ')} %`);
  }
  if (holdout) lines.push(holdoutText(holdout));
  if (otherModel) {
    const { lessons, taughtBy, now } = otherModel;
    lines.push(`${listed('lesson', lessons)} from ${taughtBy.join(', ')}, but the task now uses ${now}`);
  }
  return lines;
}

function holdoutText({ given, heldOut, difference }: HoldoutResult): string {
  const share = (part: Successes) => `${part.of === 0 ? '-' : `${percent(part)} %`} of ${count(part.of, 'row')}`;
  const text = `done on the first attempt with lessons ${share(given)}, without ${share(heldOut)}`;
  if (!difference) return text;
  const { low, high } = difference;
  return `${text}: ${points(difference.difference)} points (95 % interval ${points(low)} to ${points(high)})`;
}

function percent({ of, succeeded }: Successes): string {
  return String(Math.round((100 * succeeded) / of));
}

function points(share: number): string {
  const rounded = Math.round(share * 100);
  return rounded > 0 ? `+${rounded}` : String(rounded === 0 ? 0 : rounded);
}
