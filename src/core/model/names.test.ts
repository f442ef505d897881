import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NightshiftError } from './errors.ts';
import { checkShiftName, checkTaskName, nearest } from './names.ts';

function refusal(check: (name: string) => void, name: string): NightshiftError | undefined {
  try {
    check(name);
    return undefined;
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
}

test.each([
  ['shift', checkShiftName],
  ['task', checkTaskName],
])('F1 a %s name that is refused comes with one that would pass, whatever was typed', (_, check) => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.stringMatching(/^[\w ./-]{0,80}$/)),
      (name) => {
        const refused = refusal(check, name);
        if (!refused) return;
        expect(refused.code).toBe('bad-name');
        const [, better] = /^try (\S+)$/.exec(refused.hint ?? '') ?? [];
        expect(refusal(check, better ?? '')).toBeUndefined();
      },
    ),
    { numRuns: 1000 },
  );
});

test.each(['a', 'a-1', '2026-pages'])('F1 %s is a shift name', (name) => {
  expect(refusal(checkShiftName, name)).toBeUndefined();
});

test.each(['', '.', '..', '../a', 'a/b', 'A', 'a_b', 'a--b', '-a', 'a-', 'archive', 'a\n', 'a'.repeat(65)])(
  'F1 %j is no shift name',
  (name) => {
    expect(refusal(checkShiftName, name)).toBeDefined();
  },
);

test.each(['', '1a', '_a', 'a-b', 'A', '../a', 'a.md', 'a\n', 'a'.repeat(65)])('F1 %j is no task name', (name) => {
  expect(refusal(checkTaskName, name)).toBeDefined();
});

test('the nearest name is offered only if it may have been meant', () => {
  expect(nearest('nmae', ['name', 'place'])).toBe('name');
  expect(nearest('NAME', ['place', 'name'])).toBe('name');
  expect(nearest('zebra', ['name', 'place'])).toBeUndefined();
  expect(nearest('x', [])).toBeUndefined();
});

test.each([
  ['kind', 'id'],
  ['zz', 'm'],
  ['zz', 'ab'],
  ['x', 'a'],
  ['', 'a'],
  ['lang', 'name'],
])('of %j no more than half is in %j: it was not meant', (name, known) => {
  expect(nearest(name, [known])).toBeUndefined();
});

test.each([
  ['wrok', 'work'],
  ['naem', 'name'],
  ['nam', 'name'],
  ['ids', 'id'],
  ['strat', 'start'],
  ['make_pages', 'make_page'],
  ['current-bach-siez', 'current-batch-size'],
])('%s may be a mistyped %s', (name, known) => {
  expect(nearest(name, ['zebra', known, 'quite-another-word'])).toBe(known);
});
