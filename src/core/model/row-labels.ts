import { fillTemplate, type Template } from '../language/template.ts';
import { createMask } from '../text/mask.ts';
import { oneLine } from '../text/printable.ts';
import { withoutLogin } from '../workspace/login.ts';
import { type Shift, valuesOf } from './shift.ts';

/** A longer label is cut: it is a name, not the row. */
const LONGEST_LABEL = 40;
/**
 * So many rows decide which column tells rows apart. A name need not be unique, since the row number is always with
 * it; and rows that are appended to a long table do not change the names of all others.
 */
const DECIDING_ROWS = 10_000;

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

  /** Undefined if the row has no name. Secrets and logins are left out, and the text is safe for a terminal. */
  of(shift: Labelled, rows: Rows, row: number): string | undefined {
    return labelOf(this.#choose(shift, rows), shift, rows, row);
  }

  /** The column that names rows, if one alone does. */
  columnOf(shift: Labelled, rows: Rows): string | undefined {
    const [only, ...more] = this.#choose(shift, rows)?.segments ?? [];
    return typeof only === 'object' && only.kind === 'column' && more.length === 0 ? only.name : undefined;
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
  return asLabel(createMask(shift.secrets).text(text)) || undefined;
}

/** A text as a label would show it. */
function asLabel(text: string): string {
  return oneLine(withoutLogin(text), LONGEST_LABEL);
}

export interface LabelledRow {
  readonly row: number;
  readonly label: string;
}

/** The rows with exactly this label, and those whose label contains the text, in any case; `most` of each. */
export function rowsLabelled(
  text: string,
  count: number,
  labelOf: (row: number) => string | undefined,
  most: number,
): { readonly exact: readonly LabelledRow[]; readonly similar: readonly LabelledRow[] } {
  const wanted = asLabel(text);
  const exact: LabelledRow[] = [];
  const similar: LabelledRow[] = [];
  for (let row = 0; row < count && exact.length < most; row++) {
    const label = labelOf(row);
    if (label === undefined) continue;
    if (label === wanted) exact.push({ row, label });
    else if (similar.length < most && isPart(wanted, label)) similar.push({ row, label });
  }
  return { exact, similar };
}

function isPart(part: string, label: string): boolean {
  return part !== '' && label.toLowerCase().includes(part.toLowerCase());
}

/** The first column whose values are all there and all different in the first rows. Row numbers are no names. */
function distinctColumn(rows: Rows, others: readonly string[]): Template | undefined {
  const name = rows.header.find((column) => !others.includes(column) && tellsApart(rows, column));
  return name === undefined ? undefined : { segments: [{ kind: 'column', name }] };
}

function tellsApart(rows: Rows, column: string): boolean {
  const seen = new Set<string>();
  const count = Math.min(rows.count, DECIDING_ROWS);
  let isNumbering = true;
  for (let row = 0; row < count; row++) {
    const value = rows.cell(row, column).trim();
    if (value === '' || seen.has(value)) return false;
    seen.add(value);
    isNumbering &&= value === String(row + 1) || value === String(row);
  }
  return count > 0 && !isNumbering;
}
