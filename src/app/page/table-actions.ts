import { NightshiftError } from '../../core/model/errors.ts';
import type { Action } from '../../core/page/action.ts';
import { actionCommand } from '../../core/page/action-command.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import { count } from '../../core/text/count.ts';
import { createMask } from '../../core/text/mask.ts';
import { editCell } from '../edit/edit-cell.ts';
import { openTable, resetItems } from '../edit/edit-items.ts';
import type { ActingOn, PlannedAction } from './actions.ts';
import { chosenRows, numbersOf, seenItems } from './chosen-rows.ts';
import { requireRow } from './opened-shift.ts';

type Of<V extends Action['verb']> = Extract<Action, { verb: V }>;

const LATER = 'with their later tasks';

/** Sets the chosen rows to `todo`, whatever their status. With `onlyFailed`: only what failed in them. */
export function planReset(
  { world, reading }: ActingOn,
  action: Of<'reset'> | Of<'retry'>,
  onlyFailed = false,
): PlannedAction {
  const { paths, name } = reading.place;
  const rows = action.rows && chosenRows(reading, action.rows);
  const target = { shift: name, isRunning: reading.holder !== undefined };
  const which = rows ? `${count(rows.length, 'row')}` : 'all rows';
  const what = onlyFailed ? `what failed in ${which}` : which;
  return {
    command: actionCommand(action, { ...target, ...(rows ? { rows: numbersOf(rows) } : {}) }),
    effect: `Resets ${what} to todo, ${LATER}${reading.holder ? '; the run takes them up' : ''}.`,
    carryOut: async () => {
      const items = rows && seenItems(reading, rows);
      const { task } = action;
      const { reset } = await resetItems(await openTable(world, paths), { items, task, onlyFailed });
      return `Reset ${count(reset, 'item-task')} to todo.`;
    },
  };
}

/** Sets what runs in the chosen rows to `failed`: the run stops their agents and drops what they did (rule T4). */
export function planWithdrawal({ world, reading }: ActingOn, action: Of<'withdraw'>): PlannedAction {
  const { snapshot, place, holder } = reading;
  const running = chosenRows(reading, action.rows).flatMap((row) =>
    snapshot.tasks.flatMap((task, i) => {
      const status = statusAt(snapshot, row, i);
      const isRunning = (status === 'in_progress' || status === 'qa') && (action.task ?? task) === task;
      return isRunning ? [{ task, row, status, item: { id: snapshot.id(row), index: row } }] : [];
    }),
  );
  if (!holder || running.length === 0) {
    throw new NightshiftError('nothing-to-do', 'none of these rows is running', 'there is nothing to withdraw');
  }
  const named = running.map(({ task, row }) => ({ task, row: row + 1 }));
  return {
    command: actionCommand(action, { shift: place.name, isRunning: true, running: named }),
    effect: `Sets ${count(running.length, 'running item')} to failed: their agents are stopped, and their results dropped.`,
    carryOut: async () => {
      const table = await openTable(world, place.paths);
      let withdrawn = 0;
      for (const { task: column, item, status } of running) {
        withdrawn += await editCell(table, { column, at: { item }, was: status }, 'failed').then(
          () => 1,
          // It has ended meanwhile, or its row is gone: there is nothing to withdraw.
          (error: unknown) => {
            if (error instanceof NightshiftError) return 0;
            throw error;
          },
        );
      }
      return `Withdrew ${count(withdrawn, 'item')}.`;
    },
  };
}

export function planEdit({ world, reading }: ActingOn, action: Of<'edit'>): PlannedAction {
  const { place, shift, snapshot, holder } = reading;
  const { column, value, was } = action;
  const row = requireRow(reading, { item: action.item });
  if (snapshot.header.includes(column))
    refuseSecret(createMask(shift.secrets).text, snapshot.cell(row, column), column);
  const item = { id: action.item, index: row };
  return {
    command: actionCommand(action, { shift: place.name, isRunning: holder !== undefined, rows: [row + 1] }),
    effect: `Changes ${column} of row ${row + 1}.`,
    carryOut: async () => {
      const { index } = await editCell(await openTable(world, place.paths), { column, at: { item }, was }, value);
      return `Changed ${column} of row ${index + 1}.`;
    },
  };
}

/** The page shows its name instead, and that would be written. */
function refuseSecret(mask: (text: string) => string, cell: string, column: string): void {
  if (mask(cell) === cell) return;
  const hint = 'edit table.csv itself';
  throw new NightshiftError('usage', `${column} of this row holds a secret, which the page does not show`, hint);
}
