import { fillTemplate, type Template } from '../language/template.ts';
import { createMask } from '../text/mask.ts';
import { oneLine } from '../text/printable.ts';
import { type Shift, valuesOf } from './shift.ts';

/** A longer label is cut: it is a name, not the row. */
const LONGEST_LABEL = 40;

/** The cells of a table. */
interface Rows {
  readonly count: number;
  readonly header: readonly string[];
  readonly tasks: readonly string[];
  cell(row: number, column: string): string;
}

type Labelled = Pick<Shift, 'name' | 'folder' | 'table' | 'label' | 'secrets'> & {
  readonly tasks: readonly { readonly settings: { readonly outputs: readonly string[] } }[];
};

/**
 * The names of rows for people: `label:` of the Shift Configuration, else the first column that tells rows apart. The
 * column is chosen once and kept until the header or the configuration changes, so that a row keeps its name during a
 * run.
 */
export class RowLabels {
  #choice: { readonly basis: string; readonly template: Template | undefined } | undefined;

  /** Undefined if the row has no name. Secrets are masked, and the text is safe for a terminal. */
  of(shift: Labelled, rows: Rows, row: number): string | undefined {
    return labelOf(this.#choose(shift, rows), shift, rows, row);
  }

  /** The same for all rows of one reading of a table; the column is chosen with the first. */
  static in(shift: Labelled, rows: Rows): (row: number) => string | undefined {
    let choice: { readonly template: Template | undefined } | undefined;
    return (row) => {
      choice ??= { template: new RowLabels().#choose(shift, rows) };
      return labelOf(choice.template, shift, rows, row);
    };
  }

  #choose(shift: Labelled, rows: Rows): Template | undefined {
    const outputs = shift.tasks.flatMap(({ settings }) => settings.outputs);
    const basis = JSON.stringify([shift.label ?? null, outputs, rows.header, rows.tasks]);
    if (this.#choice?.basis !== basis) {
      this.#choice = { basis, template: shift.label ?? distinctColumn(rows, [...rows.tasks, ...outputs]) };
    }
    return this.#choice.template;
  }
}

function labelOf(template: Template | undefined, shift: Labelled, rows: Rows, row: number): string | undefined {
  if (template === undefined) return undefined;
  const columns: Record<string, string> = {};
  for (const segment of template.segments) {
    const isColumn = typeof segment !== 'string' && segment.kind === 'column' && rows.header.includes(segment.name);
    if (isColumn) columns[segment.name] = rows.cell(row, segment.name);
  }
  const text = fillTemplate(template, valuesOf(shift, columns)).join('');
  return oneLine(createMask(shift.secrets).text(text), LONGEST_LABEL) || undefined;
}

/** The first column whose values are all there and all different. Row numbers alone are no names. */
function distinctColumn(rows: Rows, others: readonly string[]): Template | undefined {
  const name = rows.header.find((column) => !others.includes(column) && tellsApart(rows, column));
  return name === undefined ? undefined : { segments: [{ kind: 'column', name }] };
}

function tellsApart(rows: Rows, column: string): boolean {
  const seen = new Set<string>();
  let isNumbering = true;
  for (let row = 0; row < rows.count; row++) {
    const value = rows.cell(row, column).trim();
    if (value === '' || seen.has(value)) return false;
    seen.add(value);
    isNumbering &&= value === String(row + 1) || value === String(row);
  }
  return rows.count > 0 && !isNumbering;
}
