import { effectTexts } from '../core/folds/effect-text.ts';
import type { Learning, TaskLearning } from '../core/folds/learning.ts';
import { oneLine } from '../core/text/printable.ts';

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

function taskLines(learning: TaskLearning): string[] {
  return effectTexts(learning).map((text) => `  ${learning.task}: ${oneLine(text, 1000)}`);
}
