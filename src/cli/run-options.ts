import { type Command, Option } from 'commander';

/** Rule X6; `limit-flags.ts` reads them. */
export function addLimits(command: Command): Command {
  return command
    .option('--max-cost <dollars>', 'stop when the shift has cost this much: 5, 2.50; `none` removes a limit')
    .option('--max-tokens <tokens>', 'stop when the shift has used this many: 2000000, 2M, 500k')
    .option('--max-duration <time>', 'stop when all runs together have taken this long: 30m, 8h')
    .option('--until <time>', 'stop at this time: 07:00, 2026-01-31T07:00')
    .option('--max-failures <n>', 'stop when this many items have failed in this run')
    .option('--max-same-failures <n>', 'pause a task when this many items in a row fail at the same point');
}

/** `--row` does the same: other commands call it so. */
export function addRows(command: Command): Command {
  return command
    .option('--rows <range>', 'only these rows, 1-based: 3, 3:10, 3:, :10 or 3,7,12:20')
    .addOption(new Option('--row <range>').hideHelp())
    .on('option:row', (range: string) => command.setOptionValue('rows', range));
}
