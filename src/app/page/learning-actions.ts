import type { Action } from '../../core/page/action.ts';
import { actionCommand } from '../../core/page/action-command.ts';
import { count, listed } from '../../core/text/count.ts';
import { findTask } from '../find-task.ts';
import { judgeLessons } from '../lessons/decide-lessons.ts';
import { restoreSteps } from '../steps.ts';
import type { ActingOn, PlannedAction } from './actions.ts';

type Of<V extends Action['verb']> = Extract<Action, { verb: V }>;

const EFFECT: Readonly<Record<Of<'lesson'>['decision'], (lessons: string) => string>> = {
  accept: (lessons) => `Adds ${lessons} to the Steps.`,
  reject: (lessons) => `Rejects ${lessons}, for good.`,
  pin: (lessons) => `Keeps ${lessons} in the Steps, whatever agents say about it.`,
  ban: (lessons) => `Removes ${lessons} from the Steps, for good.`,
  undo: (lessons) => `Undoes the last change of ${lessons}.`,
};

export function planLesson({ world, reading }: ActingOn, action: Of<'lesson'>): PlannedAction {
  const { paths, name } = reading.place;
  const { decision: verb, ids } = action;
  return {
    command: actionCommand(action, { shift: name, isRunning: reading.holder !== undefined }),
    effect: EFFECT[verb](listed('lesson', ids)),
    carryOut: async () => {
      const changes = await judgeLessons(world, paths, { verb, ids });
      const states = changes.map(({ id, to }) => `${id} is ${to}`).join(', ');
      return `Changed ${count(changes.length, 'lesson')}: ${states}.`;
    },
  };
}

export function planRestore({ world, reading }: ActingOn, action: Of<'restore'>): PlannedAction {
  const { paths, name } = reading.place;
  const { name: task } = findTask(reading.shift, action.task);
  const version = String(action.version);
  return {
    command: actionCommand(action, { shift: name, isRunning: reading.holder !== undefined }),
    effect: `Restores the Steps of ${task} as they were in version ${version}. Configuration and Validation stay.`,
    carryOut: async () => {
      await restoreSteps(world, paths, task, version);
      return `Restored the Steps of version ${version}.`;
    },
  };
}
