import { visibleText } from '../../parts/visible-text.ts';

interface ItemCellsProps {
  readonly cells: Readonly<Record<string, string>>;
  readonly onEdit: ((column: string) => void) | undefined;
}

export function ItemCells({ cells, onEdit }: ItemCellsProps) {
  return (
    <section aria-labelledby="item-cells">
      <h3 id="item-cells">Cells</h3>
      <dl class="cells">
        {Object.entries(cells).map(([column, value]) => (
          <div key={column}>
            <dt>{visibleText(column)}</dt>
            <dd>
              <span class="cell-value">{value === '' ? <span class="dim">empty</span> : visibleText(value)}</span>
              {onEdit && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Edit ${visibleText(column)}`}
                  onClick={() => onEdit(column)}
                >
                  edit
                </button>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
