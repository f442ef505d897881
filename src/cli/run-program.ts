import { type Command, CommanderError } from 'commander';
import { EXIT, NightshiftError } from '../core/model/errors.ts';
import { systemError } from '../core/model/system-errors.ts';
import type { Io } from './io.ts';
import { createProgram, OVERVIEW } from './program.ts';
import { commandFor } from './suggestion.ts';
import { readVersion } from './version.ts';

/**
 * Runs one command line and returns its exit code. The only place that catches: wrong input, and what the system
 * refused, take a few lines; a bug shows its stack.
 */
export async function runProgram(io: Io, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = createProgram(io, readVersion(), (code) => {
    exitCode = code;
  });
  try {
    if (process.platform === 'win32') {
      throw new NightshiftError('bad-folder', 'Nightshift does not run on Windows itself', 'run it inside WSL');
    }
    const [node = '', script = '', ...given] = argv;
    const isAlone = given.every((word) => word === '--json');
    await program.parseAsync([node, script, ...(isAlone ? [OVERVIEW] : []), ...given]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.badInput;
    return tellOf(io, error instanceof CommanderError ? usageError(error, commandIn(program, argv)) : error, argv);
  }
}

/** Prints the error and returns the exit code. */
export function tellOf(io: Io, thrown: unknown, argv: readonly string[]): number {
  const error = systemError(thrown) ?? thrown;
  if (error instanceof NightshiftError) {
    tell(io, error, argv.includes('--json'));
    return error.exitCode;
  }
  const stack = (error as Error)?.stack ?? String(error);
  io.warn(`This is a bug in Nightshift. Nothing that was recorded is lost.\n${stack}`);
  return EXIT.bug;
}

/** The command of the line; undefined if it has none that exists. */
function commandIn(program: Command, [, , ...given]: readonly string[]): string | undefined {
  const word = given.find((each) => !each.startsWith('-'));
  return program.commands.find((each) => word !== undefined && [each.name(), ...each.aliases()].includes(word))?.name();
}

/** Commander puts the error on one line and, in brackets, a suggestion on the next. */
function usageError({ message, code }: CommanderError, command: string | undefined): NightshiftError {
  const [first = '', meant] = message.replace(/^error: /, '').split('\n');
  const help =
    command === undefined
      ? '`nightshift --help` shows the commands, `nightshift COMMAND --help` the options of one'
      : `\`nightshift ${command} --help\` shows its arguments and options`;
  const unknown = code === 'commander.unknownCommand' ? /'(.*)'/.exec(first)?.[1] : undefined;
  const synonym = unknown === undefined ? undefined : commandFor(unknown);
  const meantBy =
    synonym === undefined ? meant?.replace(/^\(Did/, 'did').replace(/\)$/, '') : `did you mean \`${synonym}\`?`;
  const near = meantBy === undefined ? '' : `${meantBy} `;
  return new NightshiftError('usage', first, near + help);
}

function tell(io: Io, error: NightshiftError, asJson: boolean): void {
  const { code, message, hint, file, line } = error;
  if (asJson) io.print(JSON.stringify({ type: 'error', code, message, hint, file, line }));
  io.warn(`error: ${message}`);
  if (file !== undefined) io.warn(`  at ${file}${line === undefined ? '' : `:${line}`}`);
  if (hint !== undefined) io.warn(`  ${hint}`);
}
