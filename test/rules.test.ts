import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

/** The ids of all rules, in the order of `docs/rules.md`. Ids are never renumbered, so there are gaps. */
const IDS = [
  ...Object.entries({ F: 7, T: 8, M: 7, P: 8, D: 5, Q: 4, L: 13, V: 4, X: 9 }).flatMap(upTo),
  ...['R1', 'R2', 'R3', 'R4', 'R6', 'R7', 'R9', 'R10'],
  ...['S1', 'S2', 'S3', 'S4', 'S5', 'S8', 'S9', 'S10', 'S11', 'S13'],
  ...upTo(['W', 12]),
  ...upTo(['O', 5]),
];

function upTo([letter, count]: [string, number]): string[] {
  return Array.from({ length: count }, (_, i) => `${letter}${i + 1}`);
}

/** A row of the table: `| F1 | what holds | files, or later |`. */
const ROW = /^\| ([A-Z]\d+) \| (.+) \| ([^|]+) \|$/gm;
/** A title that begins with ids, of `test`, `sandboxTest`, `it`, `describe` or the second call of their `each`. Not one in a comment. */
const TITLE = /^[ \t]*(?!\/|\*)(?:it|test|sandboxTest|describe|[^\n]*\))\(\s*['"`]((?:[A-Z]\d{1,2} )+)/gm;
const SET_ASIDE = /\b(?:it|test|describe)\.(?:skip|todo|only|fails|skipIf|runIf)\b/;

const rules = [...readFileSync('docs/rules.md', 'utf8').matchAll(ROW)].map(([, id, text, shown]) => ({
  id: id!,
  text: text!,
  isLater: shown!.trim() === 'later',
  files: [...shown!.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
}));
const sources = ['src', 'web', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => relative('.', join(folder, file))),
);
const testFiles = sources.filter((file) => file.endsWith('.test.ts'));
const idsOf = new Map(testFiles.map((file) => [file, titleIds(readFileSync(file, 'utf8'))]));

function titleIds(text: string): Set<string> {
  return new Set([...text.matchAll(TITLE)].flatMap(([, ids]) => ids!.trim().split(' ')));
}

test('docs/rules.md has each rule once, in order, with what holds and what shows it', () => {
  expect(rules.map(({ id }) => id)).toEqual(IDS);
  const empty = rules.filter(({ isLater, files }) => !isLater && files.length === 0);
  expect(empty.map(({ id }) => id)).toEqual([]);
});

test('every rule that holds now is the beginning of the name of a test', () => {
  const shown = new Set([...idsOf.values()].flatMap((ids) => [...ids]));
  const missing = rules.filter(({ id, isLater }) => !isLater && !shown.has(id));
  expect(missing.map(({ id }) => id)).toEqual([]);
});

test('every file that docs/rules.md names is there, and has a test of that rule', () => {
  const wrong = rules.flatMap(({ id, files }) =>
    files.filter((file) => !idsOf.get(file)?.has(id)).map((file) => `${id}: ${file}, but ${holdersOf(id)}`),
  );
  expect(wrong).toEqual([]);
});

function holdersOf(id: string): string {
  const holders = testFiles.filter((file) => idsOf.get(file)!.has(id));
  return holders.length > 0 ? `it is in ${holders.join(', ')}` : 'no test has it';
}

test('every id in the name of a test or in a comment is a rule of docs/rules.md', () => {
  const mentioned = sources.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const inComments = [...text.matchAll(/\brules? ([A-Z]\d{1,2}(?:(?:, | and |-)[A-Z]\d{1,2})*)/g)];
    const ids = inComments.flatMap(([, list]) => list!.match(/[A-Z]\d{1,2}/g)!);
    return [...ids, ...(idsOf.get(file) ?? [])].map((id) => ({ id, file }));
  });
  expect(mentioned.length).toBeGreaterThan(100);
  expect(mentioned.filter(({ id }) => !IDS.includes(id))).toEqual([]);
});

test('no test is set aside', () => {
  expect(testFiles.filter((file) => SET_ASIDE.test(readFileSync(file, 'utf8')))).toEqual([]);
});
