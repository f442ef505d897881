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
  readonly active: GridRow | undefined;
  /** The rows that are selected. */
  readonly choice: RowChoice | undefined;
  open(row: GridRow): void;
  toggle(row: GridRow): void;
  clear(): void;
}

export function useGridKeys({ shift, view, active, choice, open, toggle, clear }: GridKeys): void {
  const retry = () => {
    const rows = choice ?? (active && { items: [active.item] });
    if (rows) requestAction({ shift: shift.id, title: 'Retry', action: { verb: 'retry', rows }, onDone: clear });
  };
  const acting = mayAct(shift)
    ? { x: () => active && toggle(active), r: retry, e: () => active && void editRow(shift.id, active.item) }
    : {};
  useKeys({
    j: () => view.move(1),
    k: () => view.move(-1),
    Enter: () => active && open(active),
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
