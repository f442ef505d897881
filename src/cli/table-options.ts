import type { Command } from 'commander';

const TABLE_HELP = `
Verbs:
  count                                 the number of rows
  headers                               the columns
  show [--status S] [--task T]          rows, their metadata and statuses
  search --exact V --select COLUMN      rows whose cell is exactly V
  slice --row N                         one row
  edit COLUMN VALUE --row N             change one cell; a status only to one that may follow it
  add NAME=VALUE...                     add a row; statuses default to todo
  import FILE                           add all rows of another table: CSV, TSV, JSON or JSON lines
  remove [--row N]... [--where COLUMN=VALUE]...
                                        remove rows; the agent of a running item is stopped
  reset [--failed | --all | --row N...] [--task T] [--keep-later]
                                        reset failed items, or the given ones, to todo, with their later tasks
  add-column NAME [--value V]           add a column, empty or with V in every row
  rename-column OLD NEW [--force]       rename a column
  drop-column NAME [--force]            remove a column

Rows are 1-based. Scripts that use qsv can give 0-based indices instead: \`--index I\`, and
\`edit COLUMN INDEX VALUE\`. All verbs work while the shift runs. Columns that hold statuses or outputs can't be
renamed or dropped. One that a task uses can be with --force, while the shift does not run.`;

export function addTableOptions(table: Command): Command {
  return table
    .alias('update-table')
    .option('--status <status>', 'show: only rows with this status')
    .option('--task <task>', 'show, reset: only this task')
    .option('--exact <value>', 'search: the value of the cell')
    .option('--select <column>', 'search: the column')
    .option('--row <row>', 'slice, edit, remove, reset: 1-based, also 3:10; may be repeated', collect)
    .option('--index <index>', 'slice, remove, reset: the same, 0-based as in qsv', collect)
    .option('--all', 'reset: all rows, whatever their status')
    .option(
      '--where <column=value>',
      'remove: rows whose cell is exactly this; repeat it to combine conditions',
      collect,
    )
    .option('--value <value>', 'add-column: the value for every row')
    .option('--force', 'rename-column, drop-column: even if a task uses the column')
    .option('--token <token>', 'edit: the token from the prompt file of an agent')
    .option('--reason <text>', 'edit, with --token: why the item failed')
    .option('--recommend <text>', 'edit, with --token: a recommendation for the Steps; may be repeated', collect)
    .option('--helped <id>', 'edit, with --token: a lesson that helped; may be repeated', collect)
    .option('--harmed <id: why>', 'edit, with --token: a lesson that did harm; may be repeated', collect)
    .option('--captured <name=value>', 'edit, with --token: a captured value', collect)
    .option('--failed', 'reset: only failed items (the default)')
    .option('--keep-later', 'reset: keep the later tasks of these items as they are')
    .addHelpText('after', TABLE_HELP);
}

/** For an option that may be repeated. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}
