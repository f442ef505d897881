import { basename, resolve } from 'node:path';
import { meanings } from './globs.ts';
import { documentRefusal, type Facts, folded, nameRefusal } from './places.ts';

/**
 * For a dev that has a shell. The text of a line does not tell what it does: a variable, a script or a child process
 * may name anything. So this denies only what a line names literally; the rest is found when the batch is closed.
 */
export function openShellRefusal(line: string, facts: Facts): string | undefined {
  const plain = line.replace(/\\\r?\n/g, '').replace(/['"\\]/g, '');
  const setting = SETTING.exec(folded(plain))?.[0];
  if (setting !== undefined) return `${setting} steers agents or git: no agent of Nightshift sets it.`;
  const bases = basesOf(plain, facts);
  const named = plain.replace(EXCLUDED, ' ').split(SEPARATOR).flatMap(partsOf).flatMap(meanings);
  for (const base of bases) {
    for (const word of named) {
      const found = nameRefusal(word, { ...facts, folder: base });
      if (found !== undefined) return found;
    }
  }
  for (const command of plain.split(/[;|&()\n`]+/)) {
    const found = commandRefusal(command.trim().split(/\s+/), bases, facts);
    if (found !== undefined) return found;
  }
  return undefined;
}

const SEPARATOR = /[\s;|&<>()`$!]+/;

/** Settings that make git run other programs, or give a program other rules. */
const SETTING = /core\.(?:hookspath|fsmonitor)|\b(?:git_(?:config|dir|template|exec)|opencode_|claude_config)\w*/;

/** Names that a search leaves out are not accessed. */
const EXCLUDED =
  /(?:--(?:exclude|exclude-dir|ignore|iglob)[= ]|(?:-not|!) +-(?:path|name|ipath|wholename) +|(?:-g|--glob)[= ]*!)\S+/g;

/** `--file=X`, `HEAD:X`, `@X`: as a whole and in parts. */
function partsOf(word: string): string[] {
  return word === '' ? [] : [word, ...word.split(/[=:@,]+/).filter((part) => part !== '' && part !== word)];
}

/** The folders that relative words may refer to. */
function basesOf(plain: string, { folder }: Facts): string[] {
  const bases = [folder];
  for (const [, to = ''] of plain.matchAll(
    /(?:^|[\s;|&(])(?:cd|pushd|-C|--prefix|--cwd|--directory)[= ]+([^\s;|&()<>]+)/g,
  )) {
    bases.push(resolve(folder, to), resolve(bases.at(-1)!, to));
  }
  return [...new Set(bases)];
}

function commandRefusal(words: readonly string[], bases: readonly string[], facts: Facts): string | undefined {
  if (isGitConfig(words)) return "Git's settings are closed to the agents of Nightshift.";
  if (isEngine(words)) return 'This agent of Nightshift may not run that. Your instructions name what you may run.';
  for (const base of bases) {
    for (const word of written(words)) {
      const found = documentRefusal(word, { ...facts, folder: base });
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const WRITERS = [
  'rm',
  'mv',
  'ln',
  'tee',
  'touch',
  'truncate',
  'dd',
  'chmod',
  'chown',
  'unlink',
  'shred',
  'rmdir',
  'mkdir',
  'mkfifo',
];
const COPIERS = ['cp', 'install', 'rsync'];
const GIT_WRITES = ['checkout', 'restore', 'rm', 'mv', 'clean', 'stash', 'reset'];

/** The words that a command is known to write to. */
function written(words: readonly string[]): string[] {
  const into = [...words.join(' ').matchAll(/>[>|&]? *([^\s<>]+)/g)].map(([, file]) => file!);
  const names = words.map((word) => basename(word));
  const plain = words.filter((word) => !word.startsWith('-')).flatMap((word) => word.replace(/^of=/, ''));
  const isInPlace = names.some((name) => /^(?:sed|perl|ruby)$/.test(name)) && words.some((word) => /^-\w*i/.test(word));
  const isFind = names.includes('find') && words.some((word) => word === '-delete' || word === '-exec');
  const isGit = names.includes('git') && words.some((word) => GIT_WRITES.includes(word));
  const writesAll = isInPlace || isFind || isGit || names.some((name) => WRITERS.includes(name));
  if (writesAll) return [...into, ...plain];
  return names.some((name) => COPIERS.includes(name)) ? [...into, ...plain.slice(-1)] : into;
}

const CONFIG_READ = /^(?:--get.*|--list|-l|get|list)$/;

/** `git config`, unless it certainly only reads. */
function isGitConfig(words: readonly string[]): boolean {
  const git = words.findIndex((word) => basename(word) === 'git');
  const config = words.indexOf('config', git + 1);
  if (git === -1 || config === -1) return false;
  const isVerb = words
    .slice(git + 1, config)
    .every((word, i, all) => word.startsWith('-') || /^-[cC]$/.test(all[i - 1] ?? ''));
  const rest = words.slice(config + 1);
  return isVerb && !rest.some((word) => CONFIG_READ.test(word)) && !(rest.length === 1 && !rest[0]!.startsWith('-'));
}

const ENGINE_WRITES =
  /^(?:init|create|add-task|start|batch|lesson|stop|retry|test-task|accept|edit|archive|mcp|demo|doctor|steps)$/;
/** Listing and `export` read. */
const LESSONS_WRITES = /^(?:accept|reject|pin|ban|undo|add)$/;
const TABLE_WRITES = /^(?:edit|add|import|reset|column|remove|rename|drop)/;

/** Commands of Nightshift for people or for the manager. A status needs a token, and its own line. */
function isEngine(words: readonly string[]): boolean {
  const at = words.findIndex((word) => basename(word) === 'nightshift');
  if (at === -1) return false;
  const rest = words.slice(at + 1);
  const verb = rest.find((word) => !word.startsWith('-')) ?? '';
  if (verb === 'doctor') return rest.includes('--fix');
  if (verb === 'steps') return rest.some((word) => word.startsWith('--restore'));
  if (verb === 'lessons') return rest.some((word) => LESSONS_WRITES.test(word));
  if (!/^(?:update-)?table$/.test(verb)) return ENGINE_WRITES.test(verb);
  const isOwnStatus =
    rest.includes('edit') && rest.includes('--token') && rest.some((word) => /^(?:qa|failed)$/.test(word));
  return rest.some((word) => TABLE_WRITES.test(word)) && !isOwnStatus;
}
