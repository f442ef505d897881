import { Command, Option } from 'commander';
import { refuseInside } from '../app/access.ts';
import { type Access, lessonsAccess, type Options, tableAccess, writesUnlessDry } from './access.ts';
import { addFleetCommands } from './fleet-commands.ts';
import { EXIT_CODES, LESSONS_HELP } from './help-texts.ts';
import type { Io } from './io.ts';
import { addResultCommands } from './result-commands.ts';
import { addEachOptions, addLimits, addRetryOptions, addStartOptions } from './run-options.ts';
import { addTableOptions } from './table-options.ts';
import { addPageBesideRun, addViewCommand, PAGE_BESIDE_RUN } from './view-commands.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

export type { Options } from './access.ts';

/** Gets the arguments and options and returns the exit code. Loaded on use, so that `--help` stays fast. */
export type CommandAction = (io: Io, args: readonly string[], options: Options) => Promise<number>;

/** Runs if no command is given. */
export const OVERVIEW = '__overview';

const accesses = new WeakMap<Command, Access>();

function declared(command: Command, access: Access): Command {
  accesses.set(command, access);
  return command;
}

/** Undefined if the command was added without an access. */
export function accessOf(command: Command): Access | undefined {
  return accesses.get(command);
}

/** The whole command line: the table of contents of all commands. */
export function createProgram(io: Io, version: string, finish: (exitCode: number) => void): Command {
  const program = new Command('nightshift')
    .description(
      'Works through a table with coding agents, unattended: one does each row, another checks it, and it can resume.',
    )
    .version(version)
    .addHelpText('after', EXIT_CODES)
    .configureHelp({
      subcommandTerm: (command) =>
        `${command.name()} ${command.usage().replace('[options] ', '').replace('[options]', '')}`,
    })
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.warn(text.trimEnd()),
      outputError: () => {},
    })
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
    'create .nightshift here, and install agents and commands for OpenCode or Claude Code',
    'writes',
    () => import('./commands/init.ts'),
  )
    .option('--agent <program>', 'the program: opencode (default) or claude')
    .option('--plugin <dir>', 'with --agent claude: write a plugin to this folder instead')
    .option('--remove', 'remove the agents and commands; shifts stay')
    .option('--force', 'also overwrite or remove files that you wrote or edited');
  add(
    'create [shift]',
    'create a shift, from a table or an example',
    (_, { listExamples }) => (listExamples ? 'reads' : 'writes'),
    () => import('./commands/create.ts'),
  )
    .option('--from <file>', 'use the rows of this file as items: CSV, TSV, JSON or JSON lines')
    .option('--parallel', 'run several items at once, as a stream whose concurrency adapts')
    .option('--lessons-from <shift>', 'start with the lessons of this shift; they wait until rows here agree')
    .option('--agent <name>', 'the agent: opencode (default), claude, codex, acp, shell or command')
    .option('--example <name>', 'start from this example: rows, tasks with checks, sample data')
    .option('--list-examples', 'list the examples');
  add(
    'add-task <shift> <task>',
    'add a task: its file, its column and its entry in the Task Order',
    'writes',
    () => import('./commands/add-task.ts'),
  ).option('--from <file.md>', 'copy the task from this file');
  addTableOptions(
    add(
      'table [shift] [verb] [args...]',
      'read and edit the table, under its lock (verbs as in qsv)',
      tableAccess,
      () => import('./commands/table.ts'),
    ),
  );
  addStartOptions(add('start [shift]', 'start or resume a shift', writesUnlessDry, () => import('./commands/start.ts')))
    .option('--agent <name>', 'use this agent for all tasks')
    .option('--model <name>', 'use this model for all agents')
    .option('--task <task>', 'only this task');
  addEachOptions(
    add(
      'each [items...]',
      'make a shift from a table and a sentence, and start it',
      writesUnlessDry,
      () => import('./commands/each.ts'),
    ),
  );
  add(
    'batch <open|close> <shift>',
    'open or close a batch whose agents you start yourself',
    'writes',
    () => import('./commands/batch.ts'),
  )
    .option('--take-over', 'open: take over a batch that is still open; for people, not agents')
    .option('--give-back', 'close: give back items without a status; they fail the third time')
    .option('--usage <json>', 'close: what the agents spent, for the limits: {"cost_usd": 0.3}');
  add(
    'lesson <shift> <task> [answer]',
    'for agents that play the manager by hand: show new recommendations, and fold them (see `lessons`)',
    'writes',
    () => import('./commands/lesson.ts'),
  );
  add(
    'lessons <shift> [args...]',
    'show what was learned, and decide about it: accept, reject, pin, ban, undo, add, export',
    lessonsAccess,
    () => import('./commands/lessons.ts'),
  )
    .option('--task <task>', 'only this task; with `add`: the task to add to, if there are several')
    .option('--reason <text>', 'with `reject` and `ban`: why')
    .addHelpText('after', LESSONS_HELP);
  add(
    'attach [shift]',
    'show the live view of a run; Ctrl-C leaves the run alone',
    'reads',
    () => import('./commands/attach.ts'),
  )
    .alias('watch')
    .option('--plain', 'print plain lines instead of the live view');
  add('stop [shift]', 'end the run once running items have finished', 'writes', () => import('./commands/stop.ts'))
    .option('--now', 'end it at once and give running items back')
    .addOption(
      new Option(
        '--leave',
        'stop the coordinator of a fleet at once; agents keep running, and the next `start --fleet` adopts them',
      ).conflicts('now'),
    );
  add(
    'pause [shift]',
    'let running items finish, start nothing new, and wait for `resume`',
    'writes',
    () => import('./commands/pause.ts'),
  ).option('--now', 'give running items back instead of letting them finish');
  add('resume [shift]', 'continue a paused shift', 'writes', () => import('./commands/resume.ts'));
  add('logs [shift]', 'show what happened, or the transcripts of one row', 'reads', () => import('./commands/logs.ts'))
    .option('--row <row>', 'the transcripts of this row, 1-based')
    .option('--prompts', 'with --row: include the prompts')
    .option('-f, --follow', 'follow until the run ends');
  addRetryOptions(add('retry [shift]', 'retry failed items', writesUnlessDry, () => import('./commands/retry.ts')));
  add('preview <shift> <task>', 'show the prompt for one row', 'reads', () => import('./commands/preview.ts'))
    .requiredOption('--row <row>', 'the row, 1-based')
    .option('--agent <name>', 'as for this agent')
    .option('--model <name>', 'as for this model');
  addLimits(
    add(
      'test-task <shift> <task>',
      'run one row as a test, without changing the table; its cost counts towards the limits',
      'writes',
      () => import('./commands/test-task.ts'),
    ),
  )
    .requiredOption('--row <row>', 'the row, 1-based, whatever its status')
    .option('--agent <name>', 'use this agent')
    .option('--model <name>', 'use this model');
  add(
    'deliver [shift]',
    'show results that wait for approval, and send them',
    writesUnlessDry,
    () => import('./commands/deliver.ts'),
  )
    .option('--rows <rows>', 'only these rows: 5, 1:10, 3:, or several with commas')
    .option('--row <row>', 'only this row, 1-based')
    .option('--dry-run', 'only show them')
    .option('--yes', 'send them without asking');
  add(
    'sync [shift]',
    'read the state of pull requests again, and write it to the table',
    'writes',
    () => import('./commands/sync.ts'),
  );
  add('status [shift]', 'show progress, and why items failed', 'reads', () => import('./commands/status.ts'));
  add(
    'show <shift> <row> [task]',
    'show all about one row (1-based): attempts, reasons, verdicts, transcripts',
    'reads',
    () => import('./commands/show.ts'),
  );
  addViewCommand(add);
  addWorkspaceCommands(add);
  addFleetCommands(add);
  addResultCommands(add);
  add(
    'accept <shift> [file]',
    'show edits that were reverted during a run, and apply them',
    'writes',
    () => import('./commands/accept.ts'),
  ).option('--yes', 'do not ask');
  add(
    'edit <shift> <document>',
    'edit a task, `manager` or `env` in $EDITOR, also while the shift runs',
    'writes',
    () => import('./commands/edit.ts'),
  );
  add(
    'steps <shift> <task>',
    'show the versions of a task: what was learned, from which rows',
    (_, { restore }) => (restore === undefined ? 'reads' : 'writes'),
    () => import('./commands/steps.ts'),
  )
    .option('--diff <version>', 'show what this version changed')
    .option('--restore <version>', 'restore the Steps of this version');
  add(
    'archive <shift>',
    'move a finished shift to .nightshift/archive',
    'writes',
    () => import('./commands/archive.ts'),
  ).option('--force', 'even if it is not finished or has workspaces, which stay where they are');
  add(
    'unarchive <shift>',
    'move a shift back from .nightshift/archive',
    'writes',
    () => import('./commands/unarchive.ts'),
  );
  add(
    'doctor',
    'diagnose problems and suggest fixes',
    (_, { fix }) => (fix ? 'writes' : 'reads'),
    () => import('./commands/doctor.ts'),
  ).option('--fix', 'fix what can be fixed, and update old shifts; keeps a backup');
  add(
    'mcp',
    'serve the Model Context Protocol on standard input and output, for agents that set up and supervise shifts',
    'reads',
    () => import('./commands/mcp.ts'),
  );
  add('list', 'list the shifts in this folder', 'reads', () => import('./commands/list.ts'));
  add('demo [dir]', 'create a small project and run a shift over it', 'writes', () => import('./commands/demo.ts'));
  add(
    'completion <shell>',
    'print shell completions for bash, zsh or fish',
    'reads',
    () => import('./commands/completion.ts'),
  );
  addHidden(program, OVERVIEW)
    .option('--json')
    .action(async (options: Options) => {
      const { run } = await import('./commands/overview.ts');
      finish(await run(io, [], options));
    });
  addPageBesideRun(addHidden(program, PAGE_BESIDE_RUN, 'writes'), io, finish);
  addHidden(program, '__complete')
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { complete } = await import('./complete.ts');
      for (const word of await complete(program, io, words)) io.print(word);
    });
  return program;
}

/** Not in the help: the command of `nightshift` alone, and those of shell completion and `start --view`. */
function addHidden(program: Command, name: string, access: Access = 'reads'): Command {
  return declared(program.command(name, { hidden: true }), access).exitOverride();
}
