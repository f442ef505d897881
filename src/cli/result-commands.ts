import type { Access } from './access.ts';
import type { AddCommand } from './workspace-commands.ts';

/** A file that is written could replace any file of the shift. */
const exportAccess: Access = (_, { csv, jsonl, md }) =>
  [csv, jsonl, md].every((file) => file === undefined || file === '-') ? 'reads' : 'writes';

const reportAccess: Access = (_, { output, md }) => ((output ?? (md ? '-' : '')) === '-' ? 'reads' : 'writes');

/** The commands that write results to a file. */
export function addResultCommands(add: AddCommand): void {
  add(
    'export [shift]',
    'write the result of each item-task to a file',
    exportAccess,
    () => import('./commands/export.ts'),
  )
    .option('--csv <file>', 'as CSV; `-` is standard output')
    .option('--jsonl <file>', 'as JSON, one object per line')
    .option('--md <file>', 'as a Markdown table')
    .option('--wide', 'one line for each row, with columns for each task')
    .option('--raw', 'csv: do not escape cells that a spreadsheet would take for formulas');
  add(
    'report [shift]',
    'write a report: what happened, what needs you, what it cost',
    reportAccess,
    () => import('./commands/report.ts'),
  )
    .option('-o, --output <file>', 'the file (default: SHIFT-report.html here); `-` is standard output')
    .option('--md', 'the short form, as Markdown on standard output');
}
