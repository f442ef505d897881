import type { ClosedBatch } from '../app/batch/close.ts';
import type { OpenedBatch } from '../app/batch/open.ts';
import { count } from '../core/text/count.ts';
import { progressLine } from './plain.ts';

export function openedLines(shift: string, { task, recovered, items, notes }: OpenedBatch): string[] {
  const isOne = items.length === 1;
  const start = isOne ? 'Start this agent' : 'Start these agents, all in one message';
  return [
    ...(recovered > 0 ? [`${count(recovered, 'item')} of an interrupted batch went back to todo.`] : []),
    `Batch of ${task}: ${count(items.length, 'item')}. ${start}, each with its prompt file:`,
    ...items.map(({ index, role, prompt }) => `row ${index + 1}: ${role}, ${prompt}`),
    `When ${isOne ? 'it has' : 'all have'} answered, run \`nightshift batch close ${shift}\`.`,
    ...notes.map((note) => `Note: ${note}.`),
  ];
}

/** The manager's agent reads this, so texts and reasons of other agents are left out. */
export function closedLines(shift: string, closed: ClosedBatch): string[] {
  const { task, progress, left, done, failed, returned, lessons } = closed;
  return [
    `Batch of ${task} closed: ${done} done, ${failed} failed, ${returned} given back.`,
    ...lessons.map(({ id, to }) => `Lesson ${id} is ${to} now.`),
    progressLine({ ...progress, compacted: false }),
    left ? `Work is left: \`nightshift batch open ${shift}\` opens the next batch.` : 'Nothing is left to do.',
  ];
}

/** For standard error: what you should look at. */
export function closedWarnings({ warning, silent }: ClosedBatch): string[] {
  return [
    ...(warning === undefined ? [] : [`warning: ${warning}`]),
    ...silent.map(({ index, end, reason }) => `row ${index + 1}: ${end}: ${reason}`),
  ];
}
