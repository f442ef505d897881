import type { HoldoutResult, Learning, TaskLearning } from '../core/folds/learning.ts';
import type { Successes } from '../core/learning/holdout.ts';
import { count } from '../core/text/count.ts';
import { oneLine } from '../core/text/printable.ts';
import { listed } from './plain.ts';

/** What was learned, what needs a person, and whether it helps. Nothing if there are no lessons. */
export function learningLines(shift: string, { states, recent, tasks }: Learning): string[] {
  const part = (number: number, fresh: number, what: string) =>
    number === 0 ? [] : [`${number} ${what}${fresh === 0 ? '' : ` (${fresh} new)`}`];
  const parts = [
    ...part(states.firm + states.pinned, recent.firm + recent.pinned, 'in the Steps'),
    ...part(states.retired, recent.retired, 'retired'),
    ...part(states.waiting, recent.waiting, 'waiting for more rows'),
    ...part(states.held, recent.held, states.held === 1 ? 'needs you' : 'need you'),
    ...part(states.banned, 0, 'banned'),
  ];
  if (parts.length === 0) return [];
  return [`lessons: ${parts.join(', ')}; \`nightshift lessons ${shift}\` shows them`, ...tasks.flatMap(taskLines)];
}

function taskLines({ task, firstAttempts, holdout, otherModel }: TaskLearning): string[] {
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
  return lines.map((line) => `  ${task}: ${oneLine(line, 1000)}`);
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
