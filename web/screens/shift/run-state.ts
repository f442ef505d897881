import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { timeText } from '../../parts/format.ts';

/** What a run does now, or how it ended. */
export interface RunState {
  readonly kind: 'running' | 'waiting' | 'ended' | 'failed' | 'idle';
  /** For the bar that is always there. */
  readonly word: string;
  readonly text: string;
}

export function runState(shift: ShiftAnswer): RunState {
  const { status, waiting, waitingForWorkers, draining, isArchived } = shift;
  const { running, paused, batch } = status;
  if (running) {
    const since = `since ${timeText(running.since)}`;
    if (draining !== undefined) {
      const why = draining === 'limit' ? ' because a limit is reached' : '';
      return { kind: 'waiting', word: 'stopping', text: `Stopping${why}: running items finish, nothing new starts` };
    }
    if (paused)
      return { kind: 'waiting', word: 'paused', text: `Paused since ${timeText(paused.since)}, running ${since}` };
    if (waitingForWorkers !== undefined) {
      return { kind: 'waiting', word: 'waiting', text: `Waiting for workers: ${waitingForWorkers}` };
    }
    if (waiting) {
      return { kind: 'waiting', word: 'waiting', text: `Waiting until ${timeText(waiting.until)}: ${waiting.reason}` };
    }
    return { kind: 'running', word: 'running', text: `Running ${since}` };
  }
  if (batch) return { kind: 'running', word: 'batch open', text: `A batch is open since ${timeText(batch.opened)}` };
  if (isArchived) return { ...endState(shift), word: 'archived' };
  if (paused) return { kind: 'waiting', word: 'paused', text: `Paused since ${timeText(paused.since)}, not running` };
  return endState(shift);
}

function endState({ status }: ShiftAnswer): RunState {
  const { lastRun } = status;
  if (!lastRun) return { kind: 'idle', word: 'not started', text: 'Not started yet' };
  const { end, lastAt } = lastRun;
  if (!end) {
    return {
      kind: 'failed',
      word: 'killed',
      text: `The last run was killed, or ended by an error, after ${timeText(lastAt)}`,
    };
  }
  const isError = end.error !== undefined;
  return {
    kind: isError ? 'failed' : 'ended',
    word: isError ? 'ended by an error' : 'ended',
    text: `Ended ${timeText(lastAt)}${isError ? ' by an error' : ''}: ${end.reason}`,
  };
}
