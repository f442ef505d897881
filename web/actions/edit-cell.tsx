import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ItemAnswer, ShiftId } from '../../src/core/page/answers.ts';
import { Dialog } from '../parts/dialog.tsx';
import { rowName } from '../parts/row-name.ts';
import { visibleText } from '../parts/visible-text.ts';
import { go, place } from '../state/place.ts';
import { apiPath, ask } from '../state/request.ts';
import { requestAction } from './pending-action.ts';

export interface EditableRow {
  readonly shift: ShiftId;
  readonly item: string;
  /** 1-based. */
  readonly row: number;
  readonly label?: string | undefined;
  readonly cells: Readonly<Record<string, string>>;
  readonly column?: string;
}

export const editedRow = signal<EditableRow | undefined>(undefined);

const close = () => {
  editedRow.value = undefined;
};

/** An item is identified by its cells: an edit gives it a new identity, and the address that names it changes. */
async function followItem({ shift, item, row }: EditableRow): Promise<void> {
  const reply = await ask<ItemAnswer>(apiPath('item', { shift, row }), new AbortController().signal);
  const at = place.value;
  if (at.screen !== 'item' || at.item !== item || reply === undefined || 'failure' in reply) return;
  go({ ...at, item: reply.value.item }, 'replace');
}

/** Asks for a new value of a cell. */
export function EditCell() {
  const row = editedRow.value;
  return row === undefined ? null : <EditForm key={row.item} row={row} />;
}

function EditForm({ row }: { readonly row: EditableRow }) {
  const { shift, item, cells } = row;
  const columns = Object.keys(cells);
  const [column, setColumn] = useState(row.column ?? columns[0] ?? '');
  const was = cells[column] ?? '';
  const [value, setValue] = useState(was);
  const choose = (next: string) => {
    setColumn(next);
    setValue(cells[next] ?? '');
  };
  const submit = (event: Event) => {
    event.preventDefault();
    close();
    const action = { verb: 'edit', item, column, was, value } as const;
    requestAction({ shift, title: 'Edit cell', action, onDone: () => void followItem(row) });
  };
  return (
    <Dialog title={`Edit ${rowName(row)}`} onClose={close}>
      <form onSubmit={submit}>
        <label class="field">
          Column
          <select value={column} onChange={(event) => choose(event.currentTarget.value)}>
            {columns.map((each) => (
              <option key={each} value={each}>
                {visibleText(each)}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Value
          <textarea rows={4} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
        </label>
        <div class="dialog-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={value === was}>
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  );
}
