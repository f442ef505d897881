import { resolve } from 'node:path';
import { type Facts, folded, type Role } from './places.ts';

/** For agents without a shell: one plain command, with each word in its place. */
export function plainLineRefusal(line: string, facts: Facts): string | undefined {
  const words = wordsOf(line);
  if (words === undefined) {
    return 'Only one plain command on a line, without pipes, redirections, substitutions or variables. Put a value that has signs of the shell between single quotes.';
  }
  if (MAY[facts.role](words, facts)) return undefined;
  return 'This agent of Nightshift may not run that. Your instructions name what you may run.';
}

type May = (words: readonly string[], facts: Facts) => boolean;

const MAY: Readonly<Record<Role, May>> = {
  manager: isManagers,
  // The program's own rules decide what else it may run; you may have allowed it more.
  dev: (words) => words[0] !== 'nightshift' || isStatus(words, DEV_STATUSES),
  qa: (words) => isStatus(words, ['done', 'failed']),
};

const DEV_STATUSES = ['qa', 'failed'];
const TABLE_READS = ['count', 'headers', 'show', 'search', 'slice'];

function isManagers(words: readonly string[], facts: Facts): boolean {
  const [program, verb = '', third = ''] = words;
  if (program === 'qsv') return isQsvRead(words, facts) !== undefined;
  if (program === 'flock') return verb === '-x' && isQsvRead(words.slice(3), facts) === tableOfLock(third, facts);
  if (program !== 'nightshift') return false;
  if (verb === 'batch') return third === 'open' || third === 'close';
  if (verb === 'table') return TABLE_READS.includes(words[3] ?? '');
  return verb === 'lesson' || verb === 'status';
}

interface QsvCommand {
  /** Words before the table: a pattern, columns. */
  readonly words: number;
  readonly flags: readonly string[];
  readonly values: readonly string[];
}

const FLAGS = ['-n', '--no-headers'];
const VALUES = ['-d', '--delimiter'];

/** qsv commands that only read, and their options that name no file. */
const QSV: Readonly<Record<string, QsvCommand>> = {
  count: { words: 0, flags: [...FLAGS, '-H', '--human-readable'], values: VALUES },
  headers: { words: 0, flags: ['-j', '--just-names', '-J', '--just-count', '--trim'], values: VALUES },
  search: {
    words: 1,
    flags: [
      ...FLAGS,
      '-i',
      '--ignore-case',
      '-v',
      '--invert-match',
      '-u',
      '--unicode',
      '-c',
      '--count',
      '-Q',
      '--quick',
      '--exact',
      '--literal',
    ],
    values: [...VALUES, '-s', '--select'],
  },
  slice: {
    words: 0,
    flags: [...FLAGS, '--json', '--invert'],
    values: [...VALUES, '-s', '--start', '-e', '--end', '-l', '--len', '-i', '--index'],
  },
  select: { words: 1, flags: FLAGS, values: VALUES },
};

/** Reads the table and nothing else: `qsv VERB [options] [words] TABLE`. */
function isQsvRead([program, verb = '', ...rest]: readonly string[], facts: Facts): string | undefined {
  const command = Object.hasOwn(QSV, verb) ? QSV[verb] : undefined;
  if (program !== 'qsv' || command === undefined) return undefined;
  const plain: string[] = [];
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i]!;
    const [option = ''] = word.split('=', 1);
    if (!word.startsWith('-')) plain.push(word);
    else if (command.values.includes(word)) i++;
    else if (!command.flags.includes(word) && !(option.startsWith('--') && command.values.includes(option)))
      return undefined;
  }
  if (plain.length !== command.words + 1) return undefined;
  return tableAt(plain.at(-1)!, facts);
}

/** The table of a shift of this project, with links resolved. */
function tableAt(word: string, { folder, project, realOf }: Facts): string | undefined {
  const given = resolve(folder, word);
  const places = [given, realOf(given)];
  const top = folded(`${realOf(project)}/.nightshift/`);
  const isTable = places.every((each) => /\/\.nightshift\/[^/]+\/table\.csv$/.test(folded(each)));
  return isTable && folded(places[1]!).startsWith(top) ? given : undefined;
}

function tableOfLock(word: string, facts: Facts): string {
  const table = /^([^-].*)\.lock$/.exec(word)?.[1];
  return (table === undefined ? undefined : tableAt(table, facts)) ?? 'no table';
}

/** Whether a dev writes its own status, and does nothing else. */
export function isDevStatus(line: string): boolean {
  return isStatus(wordsOf(line) ?? [], DEV_STATUSES);
}

/** `nightshift table SHIFT edit TASK INDEX STATUS --token T ...`, in this order. */
function isStatus(words: readonly string[], statuses: readonly string[]): boolean {
  const [program, command, , verb, , , status = '', token] = words;
  return (
    program === 'nightshift' &&
    command === 'table' &&
    verb === 'edit' &&
    token === '--token' &&
    statuses.includes(status)
  );
}

/**
 * The words of a line that is one plain command; nothing if the shell would do more than call one program with them.
 */
export function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let isInWord = false;
  for (let rest = line.trim(); rest !== ''; ) {
    const [whole, blank, quoted, plain] = PIECE.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    rest = rest.slice(whole.length);
    if (blank === undefined) words.push((isInWord ? words.pop()! : '') + (quoted?.slice(1, -1) ?? plain ?? "'"));
    isInWord = blank === undefined;
  }
  return words;
}

// Single quotes may contain anything; double quotes nothing that is expanded there; \' is an apostrophe.
const PIECE = /^(?:([ \t]+)|('[^']*'|"[^"$`\\!]*")|([\w./:@%+=,^-]+)|\\')/;
