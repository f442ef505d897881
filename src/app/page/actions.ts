import { NightshiftError } from '../../core/model/errors.ts';
import type { ActAnswer, Action, ActRequest } from '../../core/page/action.ts';
import { refuseInside } from '../access.ts';
import type { World } from '../world.ts';
import { planControl } from './control-actions.ts';
import { planDelivery } from './delivery-action.ts';
import { planLesson, planRestore } from './learning-actions.ts';
import type { OpenedShift } from './opened-shift.ts';
import { planRetry, planStart } from './run-actions.ts';
import type { ShiftPlace } from './shift-place.ts';
import type { ShiftReading } from './shift-reader.ts';
import { planEdit, planReset, planWithdrawal } from './table-actions.ts';

/** What an action would do, and the call that does it: the same as that of the command. */
export interface PlannedAction extends ActAnswer {
  /** Returns what it did, in a sentence. */
  readonly carryOut: () => Promise<string>;
}

/** Where something is to be done. */
export interface Acting {
  readonly world: World;
  readonly place: ShiftPlace;
}

/** The same, with the shift as it is now. */
export interface ActingOn extends Acting {
  readonly reading: ShiftReading;
}

/** Does what is asked, or says what it would do. The journal can't tell it from the command. */
export async function act(world: World, shift: OpenedShift, { action, isDry }: ActRequest): Promise<ActAnswer> {
  refuseInside(world, `view: ${action.verb}`);
  const { place } = shift.reader;
  refuseArchived(place);
  const planned = await plan({ world, place }, shift, action);
  const { command, effect, needsLimit } = planned;
  if (isDry) return { command, effect, ...(needsLimit ? { needsLimit } : {}) };
  if (needsLimit) {
    const hint = 'name one: an amount in US dollars, or `none`';
    throw new NightshiftError('usage', 'nothing was started: it needs a limit on cost', hint);
  }
  try {
    return { command, effect: await planned.carryOut() };
  } finally {
    shift.reader.expire();
  }
}

async function plan(place: Acting, { reader }: OpenedShift, action: Action): Promise<PlannedAction> {
  // A run can be stopped whatever became of its files.
  if (action.verb === 'pause' || action.verb === 'stop' || action.verb === 'resume') return planControl(place, action);
  // People decide about what is there now, not about what was read a while ago.
  reader.expire();
  const acting = { ...place, reading: await reader.readWhole() };
  switch (action.verb) {
    case 'start':
      return planStart(acting, action);
    case 'retry':
      return planRetry(acting, action);
    case 'reset':
      return planReset(acting, action);
    case 'withdraw':
      return planWithdrawal(acting, action);
    case 'edit':
      return planEdit(acting, action);
    case 'lesson':
      return planLesson(acting, action);
    case 'restore':
      return planRestore(acting, action);
    case 'deliver':
      return planDelivery(acting, action);
  }
}

function refuseArchived({ id, name, isArchived }: ShiftPlace): void {
  if (!isArchived) return;
  const folder = id.slice(id.indexOf('/') + 1);
  const hint = `\`nightshift unarchive ${folder}\` brings it back`;
  throw new NightshiftError('usage', `${name} is archived: nothing in it can be changed`, hint);
}
