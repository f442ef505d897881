import { expect, test } from 'vitest';
import type { Template } from '../language/template.ts';
import { RowLabels } from './row-labels.ts';

const SHIFT = {
  name: 'night',
  folder: '/f',
  table: '/f/table.csv',
  secrets: {},
  tasks: [{ settings: { outputs: [] } }],
};

function rowsOf(header: readonly string[], ...rows: readonly (readonly string[])[]) {
  let reads = 0;
  const cell = (row: number, column: string) => {
    reads++;
    return rows[row]![header.indexOf(column)]!;
  };
  return { count: rows.length, header, tasks: ['work'], cell, reads: () => reads };
}

const labelsOf = (rows: ReturnType<typeof rowsOf>, shift: object = {}) => {
  const labelOf = RowLabels.in({ ...SHIFT, ...shift }, rows);
  return Array.from({ length: rows.count }, (_, row) => labelOf(row));
};

test.each([
  ['the first column', rowsOf(['slug', 'title', 'work'], ['a', 'A', 'todo'], ['b', 'B', 'todo']), ['a', 'b']],
  ['no column with equal values', rowsOf(['kind', 'slug'], ['x', 'a'], ['x', 'b']), ['a', 'b']],
  ['no column with an empty value', rowsOf(['id', 'slug'], ['1a', 'a'], [' ', 'b']), ['a', 'b']],
  ['no column of row numbers', rowsOf(['row', 'slug'], ['1', 'a'], ['2', 'b']), ['a', 'b']],
  ['no status', rowsOf(['kind', 'work'], ['x', 'todo'], ['x', 'done']), [undefined, undefined]],
  ['nothing, if no column tells rows apart', rowsOf(['kind'], ['x'], ['x']), [undefined, undefined]],
  ['nothing, without rows', rowsOf(['kind']), []],
])('X8 a row is named by the first column that tells rows apart: %s', (_, rows, labels) => {
  expect(labelsOf(rows)).toEqual(labels);
});

test('X8 a column that tasks fill names nothing, because it changes', () => {
  const rows = rowsOf(['url', 'slug'], ['u1', 'a'], ['u2', 'b']);
  expect(labelsOf(rows, { tasks: [{ settings: { outputs: ['url'] } }] })).toEqual(['a', 'b']);
});

test('X8 S4 S9 a name is one short line, without secrets and control characters', () => {
  const rows = rowsOf(['x'], ['a\nb\u001b[2J'], ['key-hunter2-hunter2'], ['long '.repeat(30)]);
  const labels = labelsOf(rows, { secrets: { KEY: 'hunter2-hunter2' } });
  expect(labels).toEqual(['a b\uFFFD[2J', 'key-[KEY]', `${'long '.repeat(8).slice(0, 39)}…`]);
});

test('X8 `label:` names rows in its own way, also if names are equal or empty', () => {
  const rows = rowsOf(['slug', 'city'], ['a', 'Rome'], ['b', '']);
  const column = (name: string) => ({ kind: 'column', name }) as const;
  const label: Template = { segments: [column('city'), '/', column('slug'), column('later')] };
  expect(labelsOf(rows, { label })).toEqual(['Rome/a', '/b']);
  expect(labelsOf(rows, { label: { segments: [column('city')] } })).toEqual(['Rome', undefined]);
});

test('X8 the column is chosen once, and kept while rows come', () => {
  const labels = new RowLabels();
  const rows = rowsOf(['kind', 'slug'], ['x', 'a'], ['y', 'b']);
  expect(labels.of(SHIFT, rows, 0)).toBe('x');
  const before = rows.reads();
  for (let i = 0; i < 10; i++) labels.of(SHIFT, rows, 1);
  expect(rows.reads() - before).toBe(10);
  expect(labels.of(SHIFT, rowsOf(['kind', 'slug'], ['x', 'a'], ['x', 'c']), 1)).toBe('x');
  expect(labels.of(SHIFT, rowsOf(['slug'], ['a'], ['c']), 1)).toBe('c');
});

test('X8 in a long table, the first 10,000 rows decide; later ones change no name, and are not read', () => {
  const rows = Array.from({ length: 10_001 }, (_, i) => [`kind ${i % 9999}`, `slug ${i % 10_000}`]);
  const long = rowsOf(['kind', 'slug'], ...rows);
  const labelOf = RowLabels.in(SHIFT, long);
  expect([labelOf(0), labelOf(9999), labelOf(10_000)]).toEqual(['slug 0', 'slug 9999', 'slug 0']);
  expect(long.reads()).toBe(20_000 + 3);
});
