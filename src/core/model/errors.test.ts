import { expect, test } from 'vitest';
import { endByError, NightshiftError } from './errors.ts';

test('M7 what an error makes of a run: exit code, code, and in one line cause, place and what to do', () => {
  const place = { file: '/s/table.csv', line: 6 };
  expect(endByError(new NightshiftError('bad-table', 'a cell too much', 'remove it', place))).toEqual({
    exitCode: 2,
    error: 'bad-table',
    reason: 'a cell too much (/s/table.csv line 6); remove it',
  });
  const { file } = place;
  const named = new NightshiftError('disk', `no room to write ${file}`, 'make room', { file });
  expect(endByError(named).reason).toBe('no room to write /s/table.csv; make room');
  expect(endByError(new NightshiftError('locked', 'two\nlines'))).toEqual({
    exitCode: 4,
    error: 'locked',
    reason: 'two lines',
  });
  for (const [thrown, said] of [
    [new TypeError('x is\n undefined'), 'x is undefined'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
  ]) {
    const reason = `a bug in Nightshift (${said}); nothing that was recorded is lost`;
    expect(endByError(thrown)).toEqual({ exitCode: 1, error: 'bug', reason });
  }
});
