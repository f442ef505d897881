import { Command, Option } from 'commander';
import { refuseInside } from '../app/access.ts';
import { type Access, exportAccess, type Options, tableAccess, writesUnlessDry } from './access.ts';
import type { Io } from './io.ts';
import { addTableOptions, collect } from './table-options.ts';

export type { Options } from './access.ts';

/** A command: gets its arguments and options, answers the exit code. Loaded when it is used, so that `--help` is quick. */
type CommandAction = (io: Io, args: readonly string[], options: Options) => Promise<number>;

/** The command that is meant where none is named. */
export const OVERVIEW = '__overview';

const EXIT_CODES = `
Exit codes:
  0 all done   1 a bug in Nightshift   2 bad input or usage   3 finished with failed items
  4 stopped, can be resumed   5 already running   6 agent missing or not usable   130 interrupted

Rows are 1-based (--row, --rows, show); the qsv-like verbs of \`table\` take 0-based indices.`;

const accesses = new WeakMap<Command, Access>();

function declared(command: Command, access: Access): Command {
  accesses.set(command, access);
  return command;
}

/** Undefined: nobody has said what the command may change. */
export function accessOf(command: Command): Access | undefined {
  return accesses.get(command);
}

/** The whole command line, and where each command is. */
export function createProgram(io: Io, version: string, finish: (exitCode: number) => void): Command {
  const program = new Command('nightshift')
    .description('Works through a table with coding agents, unattended: done by one, checked by another, resumable.')
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .configureHelp({
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace('[options] ', '').replace('[options]', '')}`,
    })
    .configureOutput({ outputError: () => {} })
    .exitOverride();

  const add = (
    usage: string,
    description: string,
    access: Access,
    load: () => Promise<{ run: CommandAction }>,
  ): Command =>
    declared(program.command(usage), access)
      .description(description)
      .addOption(new Option('--json', 'print JSON and nothing else on standard output'))
      .exitOverride()
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command;
        const options = command.opts();
        const use = typeof access === 'string' ? access : access(command.args, options);
        if (use === 'writes') refuseInside(io, `nightshift ${command.name()}`);
        const { run } = await load();
        finish(await run(io, command.args, options));
      });

  add(
    'init',
    'make the .nightshift folder here, and agents and commands for OpenCode or Claude Code',
    'writes',
    () => import('./commands/init.ts'),
  )
    .option('--agent <program>', 'for which program: opencode (the default) or claude')
    .option('--plugin <dir>', 'with --agent claude: write all of it as a plugin to this folder instead')
    .option('--remove', 'take the agents and commands away again; shifts stay')
    .option('--force', 'also files that somebody else wrote or edited');
  add('create <shift>', 'make a new shift', 'writes', () => import('./commands/create.ts'))
    .option('--from <file.csv>', 'take the items from this table')
    .option('--parallel', 'work on several items at once, in batches of adaptive size')
    .option('--agent <name>', 'the agent of the shift: opencode (the default), claude, codex, acp, shell or command');
  add(
    'add-task <shift> <task>',
    'add a task: its file, its column, its place in the Task Order',
    'writes',
    () => import('./commands/add-task.ts'),
  ).option('--from <file.md>', 'take the task from this file');
  addTableOptions(
    add(
      'table [shift] [verb] [args...]',
      'look at the table and edit it, locked (verbs as in qsv)',
      tableAccess,
      () => import('./commands/table.ts'),
    ),
  );
  addLimits(add('start [shift]', 'start a shift or resume it', writesUnlessDry, () => import('./commands/start.ts')))
    .option('--agent <name>', 'let this agent do all tasks')
    .option('--model <name>', 'let all agents use this model')
    .option('--task <task>', 'only this task')
    .option('--rows <range>', 'only these rows, 1-based: 3, 3:10, 3: or :10')
    .option('--where <column=value>', 'only rows whose cell is exactly this; several must all hold', collect)
    .option('--sample <n>', 'only so many of these rows, at random, whether done or not')
    .option('--seed <seed>', 'with --sample: the same seed, the same rows, also after an interruption')
    .option('--dry-run', 'say what would be done; write nothing, start no agent')
    .option('--detach', 'in the background: returns when the run has begun')
    .option('--plain', 'lines instead of the live view');
  add(
    'batch <open|close> <shift>',
    'the ends of one batch, for whoever starts the agents by hand',
    'writes',
    () => import('./commands/batch.ts'),
  )
    .option('--take-over', 'open: although a batch is open, whose agents are gone; for people, not agents')
    .option('--give-back', 'close: although items have no status; they go back, and fail the third time')
    .option('--usage <json>', 'close: what its agents spent, to count towards the limits: {"cost_usd": 0.3}');
  add(
    'lesson <shift> <task> [changes]',
    'what waits to be folded into the Steps; with changes as JSON, fold it in',
    'writes',
    () => import('./commands/lesson.ts'),
  );
  add(
    'attach [shift]',
    'watch a run that is going on; Ctrl-C leaves it alone',
    'reads',
    () => import('./commands/attach.ts'),
  )
    .alias('watch')
    .option('--plain', 'lines instead of the live view');
  add(
    'stop [shift]',
    'let what is in flight finish, then end the run',
    'writes',
    () => import('./commands/stop.ts'),
  ).option('--now', 'end it at once; what is in flight is given back');
  add('logs [shift]', 'what happened, or what was said about one row', 'reads', () => import('./commands/logs.ts'))
    .option('--row <row>', 'the transcripts of this row, 1-based')
    .option('--prompts', 'with --row: also what the agents were asked, in full')
    .option('-f, --follow', 'go on until the run has ended');
  addLimits(add('retry [shift]', 'retry failed items', writesUnlessDry, () => import('./commands/retry.ts')))
    .option('--reason <text>', 'only failures whose reason contains this, in capitals or not')
    .option('--task <task>', 'only failures of this task')
    .option('--rows <range>', 'only these rows, 1-based: 3, 3:10, 3: or :10')
    .option('--all', 'also run everything else that is left to do')
    .option('--keep-later', 'leave the later tasks of these items as they are')
    .option('--agent <name>', 'let this agent do all tasks')
    .option('--model <name>', 'let all agents use this model')
    .option('--dry-run', 'say what would be reset; write nothing, start no agent')
    .option('--plain', 'lines instead of the live view')
    .addHelpText('after', RETRY_HELP);
  add(
    'preview <shift> <task>',
    'show what an agent will be sent for one row',
    'reads',
    () => import('./commands/preview.ts'),
  )
    .requiredOption('--row <row>', 'the row, 1-based')
    .option('--agent <name>', 'as if this agent did it')
    .option('--model <name>', 'as if with this model');
  addLimits(
    add(
      'test-task <shift> <task>',
      'run one row as a test, without changing the table; its cost counts towards the limits',
      'writes',
      () => import('./commands/test-task.ts'),
    ),
  )
    .requiredOption('--row <row>', 'the row, 1-based; whatever its status')
    .option('--agent <name>', 'let this agent do it')
    .option('--model <name>', 'with this model');
  add('status [shift]', 'how far a shift is, and why items failed', 'reads', () => import('./commands/status.ts'));
  add(
    'show <shift> <row> [task]',
    'everything about one row (1-based): attempts, reasons, verdicts, transcripts',
    'reads',
    () => import('./commands/show.ts'),
  );
  add(
    'export [shift]',
    'write what became of each item-task to a file, for a spreadsheet, a program or people',
    exportAccess,
    () => import('./commands/export.ts'),
  )
    .option('--csv <file>', 'as CSV; `-` is standard output')
    .option('--jsonl <file>', 'as JSON, one object on a line')
    .option('--md <file>', 'as a table in Markdown')
    .option('--raw', 'csv: leave cells that a spreadsheet would take for formulas as they are');
  add(
    'accept <shift> [file]',
    'show edits that were put back because items were in flight, and put them in force',
    'writes',
    () => import('./commands/accept.ts'),
  ).option('--yes', 'do not ask');
  add(
    'edit <shift> <document>',
    'edit a task, `manager` or `env` in $EDITOR; counts from the next item that is started',
    'writes',
    () => import('./commands/edit.ts'),
  );
  add(
    'steps <shift> <task>',
    'the versions of a task: what was learned, from which rows',
    (_, { restore }) => (restore === undefined ? 'reads' : 'writes'),
    () => import('./commands/steps.ts'),
  )
    .option('--diff <version>', 'show what this version changed')
    .option('--restore <version>', 'go back to the Steps of this version');
  add(
    'archive <shift>',
    'move a finished shift to .nightshift/archive',
    'writes',
    () => import('./commands/archive.ts'),
  ).option('--force', 'also if it is not finished');
  add(
    'doctor',
    'diagnose problems and suggest fixes',
    (_, { fix }) => (fix ? 'writes' : 'reads'),
    () => import('./commands/doctor.ts'),
  ).option('--fix', 'fix what can be fixed; brings shifts of older origin up to date, and keeps a backup');
  add(
    'mcp',
    'serve the Model Context Protocol on standard input and output, for agents that set up and supervise shifts',
    'reads',
    () => import('./commands/mcp.ts'),
  );
  add('list', 'the shifts in this folder', 'reads', () => import('./commands/list.ts'));
  add(
    'demo [dir]',
    'make a small project in a folder and run a real shift over it',
    'writes',
    () => import('./commands/demo.ts'),
  );
  add(
    'completion <shell>',
    'print what makes bash, zsh or fish complete commands, flags and names',
    'reads',
    () => import('./commands/completion.ts'),
  );
  addHidden(program, OVERVIEW)
    .option('--json')
    .action(async (options: Options) => {
      const { run } = await import('./commands/overview.ts');
      finish(await run(io, [], options));
    });
  addHidden(program, '__complete')
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { complete } = await import('./complete.ts');
      for (const word of await complete(program, io, words)) io.print(word);
    });
  return program;
}

/** Rule X6; `limit-flags.ts` reads them. */
function addLimits(command: Command): Command {
  return command
    .option('--max-cost <dollars>', 'stop when the shift has cost so much: 5, 2.50; `none` lifts a limit')
    .option('--max-tokens <tokens>', 'stop when the shift has used so many: 2000000, 2M, 500k')
    .option('--max-duration <time>', 'stop when all runs of the shift have taken so long: 30m, 8h')
    .option('--until <time>', 'stop at the next 07:00, say, or at 2026-01-31T07:00')
    .option('--max-failures <n>', 'stop when so many have failed in this run')
    .option('--max-same-failures <n>', 'pause a task of which so many in a row fail at the same place');
}

/** Not in the help: what `nightshift` alone does, and what shells ask. */
function addHidden(program: Command, name: string): Command {
  return declared(program.command(name, { hidden: true }), 'reads').exitOverride();
}

const RETRY_HELP = `
Runs the failed tasks and the later tasks of those rows, and nothing else. --reason, --task and --rows choose among the
failures. The same command continues a retry that was interrupted.`;
