import { useState } from 'preact/hooks';
import type { GridColumns } from '../../../src/core/page/answers.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { visibleText } from '../../parts/visible-text.ts';

interface ColumnChooserProps {
  readonly columns: GridColumns;
  readonly query: RowQuery;
  readonly onQuery: (query: RowQuery, how?: 'push' | 'replace') => void;
}

/** Which columns of the table are shown besides the label and the tasks. */
export function ColumnChooser({ columns, query, onQuery }: ColumnChooserProps) {
  const [isOpen, setOpen] = useState(false);
  const names = [...columns.metadata, ...columns.outputs].filter((name) => name !== columns.label);
  if (names.length === 0) return null;
  const toggle = (name: string) => {
    const shown = new Set(query.columns);
    if (!shown.delete(name)) shown.add(name);
    // In the order of the table.
    onQuery({ ...query, columns: names.filter((each) => shown.has(each)) }, 'replace');
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Columns
      </button>
      {isOpen && (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          {names.map((name) => (
            <label key={name} class="check">
              <input type="checkbox" checked={query.columns.includes(name)} onChange={() => toggle(name)} />
              {visibleText(name)}
              {columns.outputs.includes(name) && <span class="dim">output</span>}
            </label>
          ))}
        </Dialog>
      )}
    </>
  );
}
