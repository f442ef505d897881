import type { Command } from 'commander';

const TABLE_HELP = `
Verbs:
  count                                 how many rows there are
  headers                               the columns
  show [--status S] [--task T]          rows, their metadata and statuses
  search --exact V --select COLUMN      rows whose cell is exactly V
  slice --index I                       one row
  edit COLUMN INDEX VALUE               change one cell; a status only along its arrows
  add NAME=VALUE...                     add a row; its statuses are todo unless you set them
  import FILE.csv                       add all rows of another table
  remove [--index I]... [--where COLUMN=VALUE]...
                                        remove rows; if a run is working on one, its agent is stopped
  reset [--failed] [--task T] [--index I]... [--keep-later]
                                        back to todo: what failed, or the named items whatever they are;
                                        later tasks of these items go back too
  add-column NAME [--value V]           add a column, empty or with V in every row
  rename-column OLD NEW [--force]       rename a column
  drop-column NAME [--force]            remove a column

INDEX is 0-based, as in qsv. All verbs work while the shift runs. Columns that hold statuses or outputs can't be
renamed or dropped; one that a task uses only with --force, while the shift does not run.`;

export function addTableOptions(table: Command): Command {
  return table
    .alias('update-table')
    .option('--status <status>', 'show: only rows with this status')
    .option('--task <task>', 'show, reset: only this task')
    .option('--exact <value>', 'search: the value of the cell')
    .option('--select <column>', 'search: the column')
    .option('--index <index>', 'slice, remove, reset: 0-based; may be repeated', collect)
    .option('--where <column=value>', 'remove: rows whose cell is exactly this; several must all hold', collect)
    .option('--value <value>', 'add-column: what every row gets')
    .option('--force', 'rename-column, drop-column: although a task uses the column')
    .option('--token <token>', 'edit: of an agent of an open batch, for its own status')
    .option('--reason <text>', 'edit, with --token: why it failed')
    .option('--recommend <text>', 'edit, with --token: how the Steps could be better; may be repeated', collect)
    .option('--captured <name=value>', 'edit, with --token: a value that the task declares under outputs', collect)
    .option('--failed', 'reset: only what failed (without --index this is the default)')
    .option('--keep-later', 'reset: leave the later tasks of these items as they are')
    .addHelpText('after', TABLE_HELP);
}

/** Of an option that may be repeated. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
