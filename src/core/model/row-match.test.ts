import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchRows, type Outside, type RowView } from './row-match.ts';

/** A row as `metadata` or `metadata=statuses`; what stands behind `#` is in a column that the other table lacks. */
function view(sources: readonly string[]): RowView {
  const rows = sources.map((source) => source.split('#')[0]!);
  return {
    count: rows.length,
    metadata: (row) => rows[row]!.split('=')[0]!,
    statuses: (row) => rows[row]!.split('=')[1] ?? 'todo',
    isEarned: (row) => /=(in_progress|qa|done)/.test(rows[row]!),
  };
}

function match(before: readonly string[], after: readonly string[], outside: Outside = {}): number[] {
  return [...matchRows(view(before), view(after), (old, now) => before[old] === after[now], outside)];
}

describe('matchRows', () => {
  test.each<[string, string[], string[], number[]]>([
    ['nothing changed', ['a', 'b'], ['a', 'b'], [0, 1]],
    ['sorted', ['c', 'a', 'd', 'b'], ['a', 'b', 'c', 'd'], [2, 0, 3, 1]],
    ['inserted at the top', ['a', 'b'], ['x', 'a', 'b'], [1, 2]],
    ['removed in the middle', ['a', 'b', 'c'], ['a', 'c'], [0, -1, 1]],
    ['all removed', ['a', 'b'], [], [-1, -1]],
    ['filled', [], ['a'], []],
    ['every status changed', ['a=qa', 'b', 'c'], ['a=done', 'b=qa', 'c=qa'], [0, 1, 2]],
    ['edited in place', ['a', 'b', 'c'], ['a', 'x', 'c'], [0, 1, 2]],
    ['edited in place, the last', ['a', 'b'], ['a', 'x'], [0, 1]],
    ['every row edited in place', ['a', 'b'], ['x', 'y'], [0, 1]],
    ['edited in place, rows inserted above', ['a', 'b', 'c'], ['y', 'z', 'a', 'x', 'c'], [2, 3, 4]],
    ['edited in place, one removed above', ['a', 'b', 'c', 'd'], ['b', 'x', 'd'], [-1, 0, 1, 2]],
    ['edited beside an inserted row, told by status', ['a', 'b=qa', 'c'], ['a', 'x', 'y=qa', 'c'], [0, 2, 3]],
    ['edited beside an inserted row, told by text', ['a', 'bank', 'c'], ['a', 'x', 'bankk', 'c'], [0, 2, 3]],
    ['edited and sorted', ['cat', 'ape', 'dog=qa'], ['ape', 'cat', 'bulldog=qa'], [1, 0, 2]],
    ['edited far away', ['zebra=qa', 'b', 'c', 'd'], ['b', 'd', 'c', 'zebras=qa'], [3, 0, 2, 1]],
    ['edited far away, another status', ['zebra=done', 'b', 'c', 'd'], ['b', 'd', 'c', 'zebras'], [-1, 0, 2, 1]],
    ['two edited, place before text', ['a', 'cat', 'dog', 'z'], ['a', 'dog 2', 'cat 2', 'z'], [0, 1, 2, 3]],
    ['one is left, the first is like it', ['one a=qa', 'x', 'one b=qa', 'y'], ['y', 'x', 'one aa=qa'], [2, 1, -1, 0]],
    ['one is left, the second is like it', ['one b=qa', 'x', 'one a=qa', 'y'], ['y', 'x', 'one aa=qa'], [-1, 1, 2, 0]],
    ['removed, inserted one as like as any', ['p1', 'p2', 'p3', 'p4'], ['p9', 'p4', 'p3', 'p1'], [3, -1, 2, 1]],
    ['edited, rows appended', ['a', 'b'], ['a', 'x', 'n1', 'n2'], [0, 1]],
    ['edited and reset', ['a', 'bank=failed', 'c'], ['a', 'banks', 'c'], [0, 1, 2]],
    ['replaced by another item', ['a', 'b=done', 'c'], ['a', 'x', 'c'], [0, -1, 2]],
    ['one removed, another appended', ['a=qa', 'b', 'c'], ['b', 'c', 'x'], [-1, 0, 1]],
    ['twins with different statuses swapped', ['a=done', 'a=todo', 'b'], ['a=todo', 'a=done', 'b'], [1, 0, 2]],
    ['twins, one changed its status', ['a=qa', 'a=qa', 'b'], ['b', 'a=todo', 'a=qa'], [1, 2, 0]],
    ['twins, the first removed', ['a=qa', 'a=done', 'b'], ['a=done', 'b'], [-1, 0, 1]],
    ['twins, the second removed', ['a=qa', 'a=done', 'b'], ['a=qa', 'b'], [0, -1, 1]],
    ['equal twins, one removed', ['a', 'a', 'b'], ['b', 'a'], [1, -1, 0]],
    ['twins, all with new statuses', ['a=qa', 'b', 'a=done'], ['a=todo', 'a=failed', 'b'], [0, 2, 1]],
  ])('T7 %s', (_, before, after, expected) => {
    expect(match(before, after)).toEqual(expected);
  });

  test.each<[string, string[], string[], number[], string[]?]>([
    ['the text of a row that is there', ['one=done', 'x', 'two'], ['two =done', 'x', 'two'], [-1, 1, 2]],
    ['of one that goes with it', ['one=done', 'x', 'two'], ['two =done', 'x'], [-1, 1, -1]],
    ['of one that gets its own', ['one=done', 'two'], ['two =done', 'one '], [-1, 1]],
    ['of one that is gone', ['one=done', 'x'], ['two =done', 'x'], [-1, 1], ['two']],
    ['of one that is gone, in other letters', ['r1 one=done', 'x'], ['R6 - Six!=done', 'x'], [-1, 1], ['r6 six']],
    ['of nobody, in many words', ['a about a=qa', 'd about d'], ['a edited in place=qa', 'd about d'], [0, 1]],
    ['of nobody', ['one=done', 'x', 'two'], ['ones=done', 'x', 'two'], [0, 1, 2], ['three']],
  ])('T7 a done row is given %s', (_, before, after, expected, removed) => {
    expect(match(before, after, { removed: removed ?? [] })).toEqual(expected);
  });

  test('T7 rows that only a new column tells apart keep no status that had to be earned, unless all have it', () => {
    const outside = { hasNewColumns: true };
    expect(match(['a=done', 'b', 'c=qa'], ['b#1', 'a=done#2', 'c=qa#3'], outside)).toEqual([1, 0, 2]);
    expect(match(['a=done', 'a', 'b'], ['a=done#1', 'a#2', 'b#3'], outside)).toEqual([-1, 1, 2]);
    expect(match(['title=done', 'title', 'b'], ['title 1=done#1', 'title 2#2', 'b#3'], outside)).toEqual([-1, 1, 2]);
    expect(match(['a=done', 'a=done', 'b'], ['a=done#1', 'a=done#2', 'b#3'], outside)).toEqual([0, 1, 2]);
  });

  test('T7 rows with metadata of their own are found after any sorting, inserting, removing and change of status', () => {
    const row = fc.record({ id: fc.nat({ max: 999 }), status: fc.constantFrom('todo', 'qa') });
    const rows = fc.uniqueArray(row, { selector: ({ id }) => id, maxLength: 12 });
    const change = fc.record({ kept: fc.boolean(), status: fc.constantFrom('todo', 'qa', 'done') });
    const order = fc.array(fc.nat(), { minLength: 14, maxLength: 14 });
    fc.assert(
      fc.property(rows, fc.array(change, { minLength: 12, maxLength: 12 }), order, (all, changes, ranks) => {
        const before = all.map(({ id, status }) => `${id}=${status}`);
        const kept = all.flatMap(({ id }, i) => (changes[i]!.kept ? [`${id}=${changes[i]!.status}`] : []));
        // Neither status nor text is like that of a removed row: otherwise it could be the same one, edited.
        const after = [...kept, 'x=failed', 'y=failed']
          .map((text, i) => ({ text, rank: ranks[i]! }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ text }) => text);
        const idOf = (text: string) => text.split('=')[0];
        expect(match(before, after)).toEqual(before.map((old) => after.findIndex((now) => idOf(now) === idOf(old))));
      }),
      { numRuns: 300 },
    );
  });

  test('T7 no row is given to two, and rows that could be told apart are never mixed up', () => {
    const rows = fc.array(fc.constantFrom('a', 'b', 'a=qa', 'b=qa', 'c=done', 'long one', 'long two=qa'), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const found = match(before, after).filter((row) => row !== -1);
        expect(new Set(found).size).toBe(found.length);
        expect(found.every((row) => row < after.length)).toBe(true);
        const count = (all: readonly string[], text: string) => all.filter((row) => row === text).length;
        for (const text of new Set(before)) {
          const paired = match(before, after).filter((now, old) => before[old] === text && after[now] === text);
          expect(paired).toHaveLength(Math.min(count(before, text), count(after, text)));
        }
      }),
    );
  });

  test('T7 100,000 sorted rows are matched', () => {
    const before = Array.from({ length: 100_000 }, (_, i) => `item ${(i * 7919) % 100_000} of many`);
    const after = before.toSorted();
    const found = match(before, after);
    expect(found.every((now, old) => after[now] === before[old])).toBe(true);
  });
});
