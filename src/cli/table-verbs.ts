import { type CellTarget, editCell } from '../app/edit/edit-cell.ts';
import { editColumn } from '../app/edit/edit-columns.ts';
import { addItems, importFile, type OpenTable, resetItems } from '../app/edit/edit-items.ts';
import { countRows, type FoundRows, rowsAt, rowsWithCell, rowsWithStatus } from '../app/edit/query-table.ts';
import { removeItems } from '../app/edit/remove-items.ts';
import { columnNames } from '../app/names.ts';
import { isNamed, type NamedRows } from '../app/select-rows.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { count } from '../core/text/count.ts';
import { printable } from '../core/text/printable.ts';
import { removedLine, resetLine } from '../views/table.ts';
import type { Options, Verb } from './access.ts';

interface VerbInput {
  readonly table: OpenTable;
  readonly args: readonly string[];
  readonly options: Options;
}

type VerbAnswer =
  | { readonly rows: FoundRows }
  | { readonly json: object; readonly line: string; readonly note?: string | undefined };

export function runVerb(verb: Verb, input: VerbInput): Promise<VerbAnswer> {
  return HANDLERS[verb](input);
}

const HANDLERS: Record<Verb, (input: VerbInput) => Promise<VerbAnswer>> = {
  async count({ table }) {
    const rows = await countRows(table);
    return { json: { count: rows }, line: String(rows) };
  },

  async headers({ table }) {
    const headers = await columnNames(table.paths);
    return { json: { headers }, line: headers.map(printable).join('\n') };
  },

  async show({ table, options: { status, task } }) {
    return { rows: await rowsWithStatus(table, { status, task }) };
  },

  async search({ table, options: { exact, select } }) {
    if (exact === undefined || select === undefined) throw missing('search needs --exact VALUE and --select COLUMN');
    return { rows: await rowsWithCell(table, select, exact) };
  },

  async slice({ table, options }) {
    const named = namedIn(options);
    if (!isNamed(named)) throw missing('slice needs --row N');
    return { rows: await rowsAt(table, named) };
  },

  async edit({ table, args, options }) {
    const { column, at, value } = readCellEdit(args, options);
    const { index, from, keptTasks } = await editCell(table, { column, at }, value);
    const reset = `nightshift table ${table.paths.name} reset --task ${column} --row ${index + 1}`;
    // An index is shown next to its row.
    const typed = 'index' in at ? ` (index ${index})` : '';
    return {
      json: { column, row: index + 1, index, from, to: value },
      line: `${column} of row ${index + 1}${typed}: ${printable(from)} -> ${printable(value)}`,
      note:
        keptTasks.length === 0
          ? undefined
          : `${keptTasks.join(', ')} of this row keep their status; \`${reset}\` resets them too`,
    };
  },

  async add({ table, args }) {
    const values = args.map(readAssignment);
    if (values.length === 0) throw missing('add needs NAME=VALUE...');
    const names = values.map(([name]) => name);
    const { from: index } = await addItems(table, names, [new Map(values)]);
    return { json: { index, row: index + 1 }, line: `added as row ${index + 1}` };
  },

  async import({ table, args: [file] }) {
    if (file === undefined) throw missing('import needs FILE');
    const { added } = await importFile(table, file);
    return { json: { added }, line: `${count(added, 'row')} added` };
  },

  async reset({ table, options }) {
    const { task, failed, keepLater, all } = options;
    const named = namedIn(options);
    if (all && (failed || isNamed(named))) throw missing('reset takes --all, --failed or rows, not both');
    const reset = await resetItems(table, { ...named, task, onlyFailed: failed, all, keepLater });
    return { json: reset, line: resetLine(reset) };
  },

  async remove({ table, options }) {
    const removed = await removeItems(table, { ...namedIn(options), where: options.where });
    return { json: removed, line: removedLine(removed) };
  },

  async 'add-column'({ table, args: [name], options: { value = '' } }) {
    if (name === undefined) throw missing('add-column needs NAME');
    const { rows } = await editColumn(table, { change: { kind: 'add', name, value } });
    const filled = value === '' ? 'empty' : printable(value);
    const line = `added the column ${printable(name)}: ${filled} in ${count(rows, 'row')}`;
    return { json: { column: name, rows }, line };
  },

  async 'rename-column'({ table, args: [name, to], options: { force } }) {
    if (name === undefined || to === undefined) throw missing('rename-column needs OLD NEW');
    await editColumn(table, { change: { kind: 'rename', name, to }, force });
    return { json: { column: to, from: name }, line: `the column ${printable(name)} is now ${printable(to)}` };
  },

  async 'drop-column'({ table, args: [name], options: { force } }) {
    if (name === undefined) throw missing('drop-column needs NAME');
    const { rows } = await editColumn(table, { change: { kind: 'drop', name }, force });
    return { json: { column: name, rows }, line: `dropped the column ${printable(name)}` };
  },
};

function namedIn({ row, index }: Options): NamedRows {
  return { rows: row, indices: index };
}

/** `edit COLUMN VALUE --row N`, or `edit COLUMN INDEX VALUE`. */
function readCellEdit(
  [column = '', second, third]: readonly string[],
  { row = [] }: Options,
): CellTarget & { readonly value: string } {
  const [only, ...more] = row;
  if (second !== undefined && third !== undefined && only === undefined) {
    return { column, at: { index: second }, value: third };
  }
  if (second !== undefined && third === undefined && only !== undefined && more.length === 0) {
    return { column, at: { row: only }, value: second };
  }
  throw missing('edit needs COLUMN VALUE --row N');
}

function missing(message: string): NightshiftError {
  return new NightshiftError('usage', message, '`nightshift table --help` shows all verbs and their arguments');
}

function readAssignment(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals <= 0) throw missing(`${JSON.stringify(text)} is not NAME=VALUE`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}
