import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ShiftId } from '../../src/core/page/answers.ts';
import { Dialog } from '../parts/dialog.tsx';
import { visibleText } from '../parts/visible-text.ts';
import { requestAction } from './pending-action.ts';

export interface EditableRow {
  readonly shift: ShiftId;
  readonly item: string;
  /** `row 15 owl`. */
  readonly name: string;
  readonly cells: Readonly<Record<string, string>>;
  readonly column?: string;
}

export const editedRow = signal<EditableRow | undefined>(undefined);

const close = () => {
  editedRow.value = undefined;
};

/** Asks for a new value of a cell. */
export function EditCell() {
  const row = editedRow.value;
  return row === undefined ? null : <EditForm key={row.item} row={row} />;
}

function EditForm({ row }: { readonly row: EditableRow }) {
  const { shift, item, name, cells } = row;
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
    requestAction({ shift, title: 'Edit cell', action: { verb: 'edit', item, column, was, value } });
  };
  return (
    <Dialog title={`Edit ${visibleText(name)}`} onClose={close}>
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
