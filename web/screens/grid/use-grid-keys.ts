import type { RowChoice } from '../../../src/core/page/action.ts';
import type { GridRow, ItemAnswer, ShiftAnswer } from '../../../src/core/page/answers.ts';
import { editedRow } from '../../actions/edit-cell.tsx';
import { requestAction } from '../../actions/pending-action.ts';
import { useKeys } from '../../parts/keys.ts';
import { notify } from '../../state/notices.ts';
import { mayAct } from '../../state/project.ts';
import { apiPath, ask } from '../../state/request.ts';
import type { GridWindow } from './use-window.ts';

interface GridKeys {
  readonly shift: ShiftAnswer;
  readonly view: GridWindow;
  /** The row that keys act on, if it is loaded. */
  active(): GridRow | undefined;
  /** The rows that are selected. */
  choice(): RowChoice | undefined;
  open(row: GridRow): void;
  toggle(row: GridRow): void;
  clear(): void;
}

export function useGridKeys({ shift, view, active, choice, open, toggle, clear }: GridKeys): void {
  const withActive = (act: (row: GridRow) => void) => () => {
    const row = active();
    if (row) act(row);
  };
  const retry = () => {
    const row = active();
    const rows = choice() ?? (row && { items: [row.item] });
    if (rows) requestAction({ shift: shift.id, title: 'Retry', action: { verb: 'retry', rows }, onDone: clear });
  };
  const acting = mayAct(shift)
    ? { x: withActive(toggle), r: retry, e: withActive((row) => void editRow(shift.id, row.item)) }
    : {};
  useKeys({
    j: () => view.move(1),
    k: () => view.move(-1),
    Enter: withActive(open),
    '/': () => document.getElementById('search')?.focus(),
    Escape: clear,
    ...acting,
  });
}

/** The grid has cells in part, so they are asked for. */
async function editRow(shift: string, item: string): Promise<void> {
  const reply = await ask<ItemAnswer>(apiPath('item', { shift, item }), new AbortController().signal);
  if (reply === undefined) return;
  if ('failure' in reply) notify(reply.failure.message, true);
  else {
    const { row, label, metadata: cells } = reply.value;
    editedRow.value = { shift, item, row, label, cells };
  }
}
