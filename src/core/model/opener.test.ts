import { expect, test } from 'vitest';
import { type Caller, type Opener, standingOf } from './opener.ts';

const opener = (pid: number, session?: string): Opener => ({
  program: 'opencode',
  pid,
  started: 'then',
  ...(session === undefined ? {} : { session }),
});
const caller = (of: Opener | undefined, ...busy: string[]): Caller => ({ ...(of ? { opener: of } : {}), busy });

test('T6 whose batch it is: that of the caller, of nobody who still works on it, or of somebody else', () => {
  const alive = (of: Opener | undefined, by: Caller) => standingOf(of, by, () => true);
  const one = opener(7, 'one');
  expect(alive(one, caller(one, 'one'))).toBe('own');
  // Without sessions there is one conversation in a program.
  expect(alive(opener(7), caller(opener(7)))).toBe('own');
  expect(alive(undefined, caller(undefined))).toBe('own');

  expect(alive(one, caller(opener(7, 'two'), 'two'))).toBe('left');
  expect(standingOf(one, caller(opener(8, 'two')), () => false)).toBe('left');
  expect(standingOf(one, caller(undefined), () => false)).toBe('left');

  expect(alive(one, caller(opener(7, 'two'), 'one', 'two'))).toBe('theirs');
  expect(alive(opener(7), caller(opener(7, 'two'), 'two'))).toBe('theirs');
  // What another process is at, nobody here knows.
  expect(alive(one, caller(opener(8, 'two'), 'two'))).toBe('theirs');
  expect(alive({ program: 'claude' }, caller({ program: 'claude' }))).toBe('theirs');
  expect(alive(one, caller(undefined))).toBe('theirs');
  expect(alive(undefined, caller(one))).toBe('theirs');
});
