import { Lexer } from '../language/shell-lexer.ts';
import type { ScriptTemplate } from '../language/shell-template.ts';
import { HOLE } from '../language/shell-word.ts';

/** Files that a script runs, or that decide what a program runs: any of them, whichever exists. */
export interface RunFiles {
  /** Globs relative to the working folder: a placeholder in a path may be anything. */
  readonly anyOf: readonly string[];
  /** The command in short: `npm test`. */
  readonly by: string;
  /** In the file of the script. */
  readonly line: number;
}

interface Word {
  readonly text: string;
  readonly start: number;
}

const set = (names: string) => new Set(names.split(' '));

/**
 * The next word that is neither an option nor an assignment is the program; with the number of operands before it.
 */
const WRAPPERS = new Map(
  Object.entries({
    command: 0,
    exec: 0,
    time: 0,
    nohup: 0,
    setsid: 0,
    env: 0,
    nice: 0,
    ionice: 0,
    sudo: 0,
    stdbuf: 0,
  }).concat(Object.entries({ timeout: 1, flock: 1, xvfb: 0, 'xvfb-run': 0, chronic: 0 })),
);
/** Options of the wrappers. */
const OPTIONS_WITH_ARGUMENT = /^-[nuskwCgp]$/;
const INTERPRETERS = set(
  'sh bash dash ksh zsh ash fish node nodejs bun deno python ruby perl php lua tsx ts-node Rscript bats',
);
/** Code or a module follows, not a file. */
const CODE_OPTIONS = /^(-c|-e|-m|-p|-r|--eval|--print|--module|--require|--import)$/;
const TESTS = ['tests', 'test', '__tests__', 'spec'];

/** Programs that read from a file of the project what to run: for each file, its usual names. */
const RUNNERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ...spread('npm npx pnpm pnpx yarn bunx', [['package.json']]),
  ...spread('jest vitest mocha ava', [['package.json'], TESTS]),
  ...spread('make gmake', [['GNUmakefile', 'makefile', 'Makefile']]),
  ...spread('pytest py.test nose2', [TESTS]),
  ...spread('gradle gradlew', [['build.gradle', 'build.gradle.kts']]),
  ...spread('mvn mvnw', [['pom.xml']]),
  cargo: [['Cargo.toml'], ['tests']],
  tox: [['tox.ini']],
  nox: [['noxfile.py']],
  just: [['justfile', 'Justfile', '.justfile']],
  task: [['Taskfile.yml', 'Taskfile.yaml']],
  rake: [['Rakefile']],
  rspec: [['spec']],
  phpunit: [['phpunit.xml', 'phpunit.xml.dist'], TESTS],
  composer: [['composer.json']],
};
/** Subcommands of these programs that run nothing of the project. */
const HARMLESS = set('install ci i add view ls list --version -v -V -h --help version help init fmt search');

function spread<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]));
}

/** The files that a script runs, as far as its words tell. Each only once. */
export function filesRunBy({ parts, line }: Pick<ScriptTemplate, 'parts' | 'line'>): RunFiles[] {
  const source = parts.map((part) => (typeof part === 'string' ? part : HOLE)).join('');
  const lexer = new Lexer(source, []);
  lexer.read();
  const found = new Map<string, RunFiles>();
  let folder: string | undefined = '';
  for (const { words, redirections } of lexer.commands) {
    const [program, ...rest] = unwrap(words);
    if (!program) continue;
    const input = redirections.filter(({ operator }) => operator === '<').map(({ target }) => target);
    if (program.text === 'cd') folder = moved(folder, rest[0]?.text);
    if (folder === undefined) continue;
    for (const names of filesOf(program.text, INTERPRETERS.has(nameOf(program.text)) ? [...rest, ...input] : rest)) {
      const anyOf = names.flatMap((name) => inFolder(folder!, name));
      if (anyOf.length === 0) continue;
      const by = [program, ...rest]
        .slice(0, 2)
        .map(({ text }) => text.replaceAll(HOLE, '...'))
        .join(' ');
      const at = line + source.slice(0, program.start).split('\n').length - 1;
      if (!found.has(anyOf.join())) found.set(anyOf.join(), { anyOf, by, line: at });
    }
  }
  return [...found.values()];
}

/** Without assignments and wrappers. */
function unwrap(words: readonly Word[]): readonly Word[] {
  let left = words;
  for (;;) {
    left = left.slice(countWhile(left, ({ text }) => /^[A-Za-z_]\w*\+?=/.test(text)));
    const skipped = WRAPPERS.get(left[0]?.text ?? '');
    if (skipped === undefined) return left;
    if (left[0]?.text === 'command' && /^-[vV]/.test(left[1]?.text ?? '')) return [];
    const isBefore = ({ text }: Word, before?: Word) =>
      text.startsWith('-') || OPTIONS_WITH_ARGUMENT.test(before?.text ?? '') || /^[A-Za-z_]\w*=/.test(text);
    left = left.slice(1);
    left = left.slice(countWhile(left, isBefore) + skipped);
  }
}

function countWhile<T>(all: readonly T[], holds: (one: T, before?: T) => boolean): number {
  const at = all.findIndex((one, index) => !holds(one, all[index - 1]));
  return at === -1 ? all.length : at;
}

function filesOf(program: string, rest: readonly Word[]): readonly (readonly string[])[] {
  const words = rest.map(({ text }) => text);
  const name = nameOf(program);
  const own = program.includes('/') ? [[program]] : [];
  if (program === '.' || program === 'source') return words[0] === undefined ? [] : [[words[0]]];
  if (INTERPRETERS.has(name)) return [...own, ...interpreted(words)];
  if (!Object.hasOwn(RUNNERS, name) || words.some((word) => HARMLESS.has(word))) return own;
  const given = argumentOf(words, /^(-f|--file|--makefile)$/);
  const folder = argumentOf(words, /^(-C|--prefix|--directory)$/);
  const paths = words.filter((word) => /[/.]/.test(word) && !word.startsWith('-') && word !== given && word !== folder);
  const usual = given === undefined ? RUNNERS[name]! : [[given]];
  // If tests are named, those are run.
  const files = usual.map((names) => (names === TESTS && paths.length > 0 ? paths.map(withoutSelector) : names));
  return [...own, ...files.map((names) => names.map((file) => (folder === undefined ? file : `${folder}/${file}`)))];
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1).replace(/^(python|pypy|ruby|lua|php)[\d.]+$/, '$1');
}

/** The script of an interpreter, or the tests that it runs. */
function interpreted(words: readonly string[]): readonly (readonly string[])[] {
  const first = words.findIndex((word) => !word.startsWith('-') || CODE_OPTIONS.test(word));
  const word = words[first];
  if (word === '-m' && words[first + 1] !== undefined) {
    return filesOf(
      words[first + 1]!,
      words.slice(first + 2).map((text) => ({ text, start: 0 })),
    );
  }
  if (words.includes('--test') || word === 'test') {
    const named = words.filter((each) => !each.startsWith('-') && each !== 'test');
    return named.length > 0 ? named.map((each) => [each]) : [TESTS];
  }
  if (word === 'run' && words[first + 1] !== undefined) return [[words[first + 1]!, 'package.json']];
  return word === undefined || CODE_OPTIONS.test(word) ? [] : [[word]];
}

function argumentOf(words: readonly string[], option: RegExp): string | undefined {
  const at = words.findIndex((word) => option.test(word));
  return at === -1 ? undefined : words[at + 1];
}

/** `tests/test_a.py::test_b`. */
function withoutSelector(path: string): string {
  return path.split('::')[0]!;
}

/** The folder in which the next command runs; undefined if it is unknown. */
function moved(folder: string | undefined, to: string | undefined): string | undefined {
  if (folder === undefined || to === undefined || to.startsWith('-')) return undefined;
  const [path] = inFolder(folder, to);
  return path;
}

/** As a glob; nothing if it leads out of the working folder, or the shell expands something in it. */
function inFolder(folder: string, path: string): string[] {
  if (/[$`~\\]/.test(path) || path.startsWith('/') || path.startsWith('-')) return [];
  const parts: string[] = [];
  for (const part of `${folder}/${path}`.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part.replaceAll(HOLE, '*'));
    else if (parts.pop() === undefined) return [];
  }
  return parts.length === 0 ? [] : [parts.join('/')];
}
