import type { Command, Option } from 'commander';
import { exampleNames } from '../app/examples.ts';
import { findShift, type ShiftPaths, shiftNames } from '../app/find-shift.ts';
import { agentNames, columnNames, kitNames, lessonIds, taskNames } from '../app/names.ts';
import { archivedNames } from '../app/unarchive-shift.ts';
import { STATUSES } from '../core/model/status.ts';
import { VERBS } from './access.ts';
import { SHELLS } from './completion-scripts.ts';
import type { Io } from './io.ts';
import { JUDGING_VERBS, LESSON_VERBS } from './lesson-verbs.ts';

/** Asks the shell to complete file names itself. */
const FILES = ':files';
/** Only words are offered: a name from a folder or a table must never mean more than that to a shell. */
const WORD = /^[\w.@:=-]+$/;

/** Commands whose shift may be omitted before a verb. */
const VERBS_OF: Readonly<Record<string, readonly string[]>> = { table: VERBS, workspaces: ['prune'] };

/** The candidates for the last of `words`, which were typed behind `nightshift`. Wrong input gives none. */
export async function complete(program: Command, io: Io, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  try {
    const candidates = await candidatesFor(program, io, words.slice(0, -1), current);
    return [...new Set(candidates)].filter((word) => WORD.test(word) && (word === FILES || word.startsWith(current)));
  } catch {
    return [];
  }
}

async function candidatesFor(
  program: Command,
  io: Io,
  before: readonly string[],
  current: string,
): Promise<readonly string[]> {
  const visible = program.createHelp().visibleCommands(program);
  const names = visible.flatMap((command) => [command.name(), ...command.aliases()]);
  const [name] = before;
  if (name === undefined) return current.startsWith('-') ? ['--help', '--version'] : names;
  if (name === 'help') return before.length === 1 ? names : [];
  const command = visible.find((each) => each.name() === name || each.aliases().includes(name));
  if (!command) return [];
  const place = readPlace(command, before.slice(1));
  const candidates = new Candidates(io, command, place.given);
  if (place.awaited) return candidates.valuesOf(place.awaited);
  if (current.startsWith('-')) return flagsOf(command, before);
  return candidates.argument(place.given.length);
}

/** Which positional arguments were given, and the option whose value comes next, if one does. */
function readPlace(command: Command, words: readonly string[]): { given: string[]; awaited?: Option } {
  const given: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    const option = command.options.find((each) => each.long === word || each.short === word);
    if (option?.required || option?.optional) {
      if (i === words.length - 1) return { given, awaited: option };
      i++;
    } else if (!word.startsWith('-')) given.push(word);
  }
  return { given };
}

/** Flags that are not given yet or may be repeated. */
function flagsOf(command: Command, words: readonly string[]): string[] {
  const flags = command.options.filter((each) => each.long && (each.parseArg || !words.includes(each.long)));
  return [...flags.map((each) => each.long!), '--help'];
}

/** Finds the names that fit an argument or an option of a command. */
class Candidates {
  readonly #io: Io;
  readonly #command: Command;
  readonly #given: readonly string[];

  constructor(io: Io, command: Command, given: readonly string[]) {
    this.#io = io;
    this.#command = command;
    this.#given = given;
  }

  async argument(index: number): Promise<readonly string[]> {
    const declared = this.#command.registeredArguments;
    const argument = declared[Math.min(index, declared.length - 1)];
    if (!argument || (index >= declared.length && !argument.variadic)) return [];
    switch (argument.name()) {
      case 'shift':
        if (this.#command.name() === 'create') return [];
        if (this.#command.name() === 'unarchive') return archivedNames(this.#io);
        return [...this.#shifts(), ...(VERBS_OF[this.#command.name()] ?? [])];
      case 'verb':
        if (this.#command.name() === 'workspaces') return this.#given.includes('prune') ? [] : ['prune'];
        return this.#shifts().includes(this.#given[0]!) ? VERBS : this.#headers();
      case 'args':
        if (this.#command.name() === 'lessons') return this.#lessonWords(index);
        return this.#given.includes('import') ? [FILES] : this.#headers();
      case 'task':
        return this.#tasks();
      case 'document':
        return [...(await this.#tasks()), 'manager', 'env'];
      case 'open|close':
        return ['open', 'close'];
      case 'shell':
        return SHELLS;
      case 'dir':
        return [FILES];
      default:
        return [];
    }
  }

  async valuesOf(option: Option): Promise<readonly string[]> {
    switch (option.long) {
      case '--task':
        return this.#tasks();
      case '--lessons-from':
        return this.#shifts();
      case '--agent':
        return this.#command.name() === 'init' ? kitNames : agentNames;
      case '--example':
        return exampleNames();
      case '--status':
        return STATUSES;
      case '--select':
        return this.#headers();
      case '--where':
        return (await this.#headers()).map((name) => `${name}=`);
      case '--from':
      case '--csv':
      case '--jsonl':
      case '--md':
        return [FILES];
      default:
        return [];
    }
  }

  async #lessonWords(index: number): Promise<readonly string[]> {
    if (index === 1) return [...(await this.#tasks()), ...LESSON_VERBS];
    return JUDGING_VERBS.some((verb) => verb === this.#given[1]) ? lessonIds(this.#paths()) : [];
  }

  #shifts(): string[] {
    return shiftNames(this.#io);
  }

  /** The shift that was named, or the only one. */
  #paths(): ShiftPaths {
    const shifts = this.#shifts();
    return findShift(
      this.#io,
      this.#given.find((word) => shifts.includes(word)),
    );
  }

  #tasks(): Promise<string[]> {
    return taskNames(this.#paths());
  }

  #headers(): Promise<readonly string[]> {
    return columnNames(this.#paths());
  }
}
