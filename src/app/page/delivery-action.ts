import { NightshiftError } from '../../core/model/errors.ts';
import type { Action } from '../../core/page/action.ts';
import { actionCommand, rowsText } from '../../core/page/action-command.ts';
import { count } from '../../core/text/count.ts';
import { type DeliveredRow, openHeldDeliveries } from '../delivery/deliver-held.ts';
import type { HeldRow } from '../delivery/held-rows.ts';
import type { ActingOn, PlannedAction } from './actions.ts';
import { chosenRows, numbersOf, seenItems } from './chosen-rows.ts';

/** Sends results that wait for approval: those of the chosen rows, by identity. */
export async function planDelivery(
  { world, reading }: ActingOn,
  action: Extract<Action, { verb: 'deliver' }>,
): Promise<PlannedAction> {
  const { paths, name } = reading.place;
  const chosen = chosenRows(reading, action.rows);
  const ids = new Set(seenItems(reading, chosen).map(({ id }) => id));
  const { signal } = new AbortController();
  const held = await openHeldDeliveries(paths, { rows: [rowsText(numbersOf(chosen))], signal }, world);
  const { rows } = held;
  if (rows.some(({ record }) => !ids.has(record.id))) {
    throw new NightshiftError('usage', 'rows have moved meanwhile', 'look at them again, then approve them');
  }
  if (rows.length === 0) throw new NightshiftError('nothing-to-do', 'nothing of these rows waits for approval');
  return {
    command: actionCommand(action, {
      ...{ shift: name, isRunning: reading.holder !== undefined },
      rows: rows.map(({ row }) => row),
    }),
    effect: `Sends ${rows.map(describe).join('; ')}.`,
    carryOut: async () => summary(await held.send(() => {})),
  };
}

function describe({ row, kind, branch, into, files, lines }: HeldRow): string {
  return `row ${row} (${kind} ${into ?? branch}: ${count(files, 'file')}, ${count(lines, 'line')})`;
}

function summary(sent: readonly DeliveredRow[]): string {
  const failed = sent.flatMap((each) => (each.result === 'failed' ? [`row ${each.row}: ${each.reason}`] : []));
  const delivered = `Delivered ${count(sent.length - failed.length, 'row')}.`;
  return failed.length === 0 ? delivered : `${delivered} Not delivered: ${failed.join('; ')}`;
}
