import { type Command, Option } from 'commander';
import { RETRY_HELP } from './help-texts.ts';
import { collect } from './table-options.ts';

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
function addRows(command: Command): Command {
  return command
    .option('--rows <range>', 'only these rows, 1-based: 3, 3:10, 3:, :10 or 3,7,12:20')
    .addOption(new Option('--row <range>').hideHelp())
    .on('option:row', (range: string) => command.setOptionValue('rows', range));
}

/** Whether and where it is run and shown. */
function addRunOptions(command: Command, dryRun: string): Command {
  return command
    .option('--dry-run', `${dryRun}; write nothing, start no agent`)
    .option('--detach', 'run in the background')
    .addOption(new Option('--view', 'also serve the page of `nightshift view`, until the run ends').conflicts('detach'))
    .option('--plain', 'print plain lines instead of the live view');
}

/** Where the agents run: on this machine, or on those of a fleet. */
function addFleetOptions(command: Command): Command {
  return command
    .option(
      '--fleet <url>',
      'run agents on workers of a fleet: postgres://..., `env` (NIGHTSHIFT_FLEET_URL) or `try` (a temporary server)',
    )
    .option('--insecure', 'with --fleet: allow a connection over the network without verified TLS')
    .addOption(
      new Option(
        '--without-fleet',
        'run on this machine, even if workers of a fleet may still be running these items',
      ).conflicts('fleet'),
    );
}

/** What `start` and `each` have in common: limits, which rows, and where to show it. */
export function addStartOptions(command: Command): Command {
  const own = addRows(addLimits(command))
    .option('--where <column=value>', 'only rows whose cell is exactly this; repeat it to combine conditions', collect)
    .option('--sample <n>', 'only this many of these rows, at random, done or not')
    .option('--seed <seed>', 'with --sample: the same seed picks the same rows');
  return addFleetOptions(addRunOptions(own, 'show what would run'));
}

export function addRetryOptions(command: Command): Command {
  const own = addRows(addLimits(command))
    .option('--reason <text>', 'only failures whose reason contains this (case-insensitive)')
    .option('--task <task>', 'only failures of this task')
    .option('--all', 'also run everything else that is left')
    .option('--keep-later', 'keep the later tasks of these items as they are')
    .option('--agent <name>', 'use this agent for all tasks')
    .option('--model <name>', 'use this model for all agents');
  return addFleetOptions(addRunOptions(own, 'show what would be reset')).addHelpText('after', RETRY_HELP);
}

const EACH_HELP = `
ITEMS is CSV, TSV, JSON or JSON lines; - reads standard input. {name} stands for the row's value in that column.

  nightshift each modules.csv --do "Write tests for {path}" --check 'npx vitest run "{path}"' --agent claude --max-cost 5
  nightshift each --glob 'pages/*.md' --do "Translate {path} to German as {path}.de.md" --check 'test -s "{path}.de.md"'
  gh issue list --json number,title | nightshift each - --do "Triage issue {number}: {title}" --out label

It makes an ordinary shift in .nightshift/NAME and starts it. The same line again resumes it and adds rows that are
new. Without --check, a qa judges whether it was done as asked. With --agent shell, --do is a script.`;

export function addEachOptions(command: Command): Command {
  const own = command
    .usage('[items] --do TEXT [options]')
    .requiredOption('--do <text>', 'what to do with each row')
    .option('--check <shell>', 'a command that fails if a row is not done well; may be repeated', collect)
    .option('--out <column>', 'a value to report, written to this column; may be repeated', collect)
    .option('--glob <pattern>', 'the items are these files, in the column path: *, ?, ** and {a,b}; quote it')
    .option('--name <shift>', 'the name of the shift; the default comes from the file or the pattern')
    .option('--parallel <n>', 'how many rows at once (default: 1)')
    .option('--agent <name>', 'the agent: opencode (default), claude, codex, acp, shell or command')
    .option('--model <name>', 'the model of the agent')
    .option('--command <line>', 'with --agent command or acp: the program');
  return addStartOptions(own).addHelpText('after', EACH_HELP);
}
