import { expect, test } from 'vitest';
import type { Expenses, LimitSettings } from './budget.ts';
import { nextCommand, type Standing } from './run-request.ts';

const at = new Date('2026-01-30T22:00').getTime();
const nothing: Expenses = { usage: {}, ms: 0, failures: 0 };

function next(standing: Partial<Standing> & { flags?: readonly string[] }): string | undefined {
  const { flags = [], ...rest } = standing;
  const request = { command: 'start' as const, flags };
  const base = { shift: 'night', request, limits: {}, spent: nothing, at, isStopped: true, failed: 0 };
  return nextCommand({ ...base, ...rest })?.command;
}

test('M7 what continues repeats what chose the part of the shift, as a shell reads it, and the limits', () => {
  expect(next({})).toBe('nightshift start night');
  const flags = ['--model=-x', '--rows=3:', "--where=name=O'Neil & Co", '--where=city=Rome', '--until=07:00'];
  expect(next({ flags, limits: { until: '07:00' } })).toBe(
    "nightshift start night --model='-x' --rows 3: --where 'name=O'\\''Neil & Co' --where city=Rome --until 07:00",
  );
  expect(next({ flags: ['--where=note=one\ntwo'] })).toBe("nightshift start night --where 'note=one\ntwo'");
  const retry = { command: 'retry' as const, flags: ['--reason=no ink', '--all', '--max-cost=5'] };
  expect(next({ request: retry, limits: { 'max-cost': 5 } })).toBe(
    "nightshift retry night --reason 'no ink' --all --max-cost 5",
  );
});

test('M7 of a run of which something else is known than flags, the whole shift is continued', () => {
  expect(next({ flags: ['; rm -rf /', '--json', 'x --rows=1'] })).toBe('nightshift start night');
});

test('M7 where nothing was stopped, what failed is retried whatever part the run was about; else nothing is suggested', () => {
  const flags = ['--agent=shell', '--rows=3:', '--where=a=b', '--sample=3', '--seed=s', '--max-cost=5'];
  const limits = { 'max-cost': 5 };
  expect(next({ flags, limits, isStopped: false, failed: 2 })).toBe(
    'nightshift retry night --agent shell --max-cost 5',
  );
  expect(next({ flags, limits, isStopped: false })).toBeUndefined();
});

test.each<[LimitSettings, Partial<Expenses>, string]>([
  [{ 'max-cost': 1 }, { usage: { costUsd: 0.9 } }, ''],
  [{ 'max-cost': 1 }, { usage: { costUsd: 1 } }, ' --max-cost 2'],
  [{ 'max-cost': 1 }, { usage: { costUsd: 1.9 } }, ' --max-cost 4'],
  [{ 'max-cost': 0.05 }, { usage: { costUsd: 0.08 } }, ' --max-cost 0.1'],
  [{ 'max-cost': 1e-7 }, { usage: { costUsd: 1e-7 } }, ' --max-cost 0.0000002'],
  [{ 'max-cost': 1e-9 }, { usage: { costUsd: 9e-7 } }, ' --max-cost 0.000002'],
  [{ 'max-tokens': 2e6 }, { usage: { inputTokens: 2e6 } }, ' --max-tokens 4M'],
  [{ 'max-duration': 5_400_000 }, { ms: 5_400_000 }, ' --max-duration 3h'],
  [{ 'max-duration': 3_601_000 }, { ms: 7_201_000 }, ' --max-duration 4h'],
  [{ 'max-duration': 1 }, { ms: 1 }, ' --max-duration 1s'],
  [{ until: '07:00' }, {}, ''],
  [{ until: '2026-01-30T21:30' }, {}, ' --until 21:30'],
  [{ 'max-failures': 1 }, { failures: 5 }, ''],
  [{ 'max-cost': 1, until: '2026-01-30T21:30' }, { usage: { costUsd: 1 } }, ' --max-cost 2 --until 21:30'],
])('X6 %j with %j spent: the limits that would stop it again are raised (%s)', (limits, spent, more) => {
  expect(next({ limits, spent: { ...nothing, ...spent } })).toBe(`nightshift start night${more}`);
});

test('X6 a raised limit takes the place of the flag, and also what failed is retried within raised limits', () => {
  const spent = { ...nothing, usage: { costUsd: 5 } };
  const flags = ['--max-cost=5', '--max-failures=2'];
  const limits = { 'max-cost': 5, 'max-failures': 2 };
  expect(next({ flags, limits, spent })).toBe('nightshift start night --max-failures 2 --max-cost 10');
  expect(next({ flags, limits, spent, isStopped: false, failed: 1 })).toBe(
    'nightshift retry night --max-failures 2 --max-cost 10',
  );
});
