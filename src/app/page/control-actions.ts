import type { Action } from '../../core/page/action.ts';
import { actionCommand } from '../../core/page/action-command.ts';
import { pauseRun, resumeShift } from '../pause-run.ts';
import { findRun, stopRun } from '../stop-run.ts';
import type { Acting, PlannedAction } from './actions.ts';

type ControlAction = Extract<Action, { verb: 'pause' | 'stop' | 'resume' }>;

/** A page does not wait for items to finish; it sees the end of the run by itself. */
const STOPPED_WITHIN_MS = 2000;

/** What another process asks of a run. */
export function planControl(acting: Acting, action: ControlAction): PlannedAction {
  const command = actionCommand(action, { shift: acting.place.name, isRunning: true });
  const { now = false } = action.verb === 'resume' ? {} : action;
  switch (action.verb) {
    case 'pause':
      return { command, ...pausing(acting, now) };
    case 'stop':
      return { command, ...stopping(acting, now) };
    case 'resume':
      return { command, ...resuming(acting) };
  }
}

type Effect = Pick<PlannedAction, 'effect' | 'carryOut'>;

function pausing({ world, place: { paths, name } }: Acting, now: boolean): Effect {
  return {
    effect: now
      ? `Pauses ${name} at once: running items are given back.`
      : `Pauses ${name}: running items finish, and nothing new starts until it is resumed.`,
    carryOut: async () => {
      const { running } = await pauseRun(paths, now, world);
      return running ? `${name} is paused.` : `${name} is not running: there was nothing to pause.`;
    },
  };
}

function resuming({ place: { paths, name } }: Acting): Effect {
  return {
    effect: `Lifts the pause of ${name}; its run continues, if there is one.`,
    carryOut: async () => {
      const { wasPaused } = await resumeShift(paths);
      return wasPaused ? `${name} continues.` : `${name} was not paused.`;
    },
  };
}

function stopping({ world, place: { paths, name } }: Acting, now: boolean): Effect {
  return {
    effect: now
      ? `Ends the run of ${name} at once: running items are given back.`
      : `Ends the run of ${name} when running items have finished.`,
    carryOut: async () => {
      const holder = await findRun(paths);
      if (!holder) return `${name} is not running: there was nothing to stop.`;
      const { hasEnded } = await stopRun(paths, holder, { now, within: STOPPED_WITHIN_MS }, world);
      return hasEnded ? `The run of ${name} has ended.` : `The run of ${name} ends when running items have finished.`;
    },
  };
}
