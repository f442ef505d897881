import { expect, test } from 'vitest';
import type { Happening, TranscriptHappening } from '../../core/model/events.ts';
import type { Queryable } from '../database.ts';
import type { Line } from '../lines.ts';
import { LineSender } from './line-sender.ts';

const said = (text: string): TranscriptHappening => ({
  ...{ type: 'transcript', role: 'dev', key: 'k' },
  entry: { kind: 'text', text },
});
const spent = (costUsd: number): Happening => ({ type: 'usage:spent', role: 'dev', agent: 'a', usage: { costUsd } });

/** A database that refuses some rows for good. */
function sender(refuses: (json: string) => boolean) {
  const rows: { n: number; lines: Line[]; bytes: number }[] = [];
  const database = {
    query: async (_text: string, [, n, , , json]: [string, number, string, string, string]) => {
      if (refuses(json)) throw Object.assign(new Error('invalid input syntax for type json'), { code: '22P02' });
      rows.push({ n, lines: JSON.parse(json), bytes: json.length });
      return { rows: [] };
    },
  };
  const failures: string[] = [];
  const retry = { signal: new AbortController().signal, onFailure: (reason: string) => failures.push(reason) };
  const target = { order: 'o', shift: 's', worker: 'w' };
  return { rows, failures, lines: new LineSender(database as unknown as Queryable, target, retry) };
}

test('all that has waited is sent in rows of a limited size, in order', async () => {
  const { rows, lines } = sender(() => false);
  for (let i = 0; i < 30; i++) lines.add(said('x'.repeat(i === 10 ? 400_000 : 50_000)));
  await lines.flush();
  expect(rows.flatMap((row) => row.lines.map(({ n }) => n))).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect(rows.map(({ n }) => n)).toEqual(rows.map((row) => row.lines[0]!.n));
  for (const { bytes, lines: batch } of rows) expect(bytes < 270_000 || batch.length === 1).toBe(true);
  expect(rows.length).toBeLessThan(12);
});

test('half a surrogate pair and NUL reach the database as text that it keeps', async () => {
  const { rows, lines } = sender((json) => /\\ud[89a-f]|\\u0000/i.test(json));
  lines.add(said('half \ud83d and \0'));
  await lines.flush();
  expect(rows[0]?.lines).toEqual([{ n: 1, what: said('half \ufffd and \ufffd') }]);
});

test('if the database refuses lines, their spending is kept, and a warning says that others are missing', async () => {
  const { rows, lines } = sender((json) => json.includes('poison'));
  for (const what of [said('poison'), spent(1), said('more'), spent(2)]) lines.add(what);
  await lines.flush();
  const message = "2 lines from worker w can't be stored: invalid input syntax for type json";
  expect(rows.map((row) => row.lines)).toEqual([
    [
      { n: 2, what: spent(1) },
      { n: 3, what: { type: 'run:warning', message } },
      { n: 4, what: spent(2) },
    ],
  ]);
});

test('a database that stores no line at all does not delay the result, and the failure is reported', async () => {
  const { rows, failures, lines } = sender(() => true);
  lines.add(spent(1));
  await lines.flush();
  expect([rows, failures]).toEqual([[], ['invalid input syntax for type json']]);
});
