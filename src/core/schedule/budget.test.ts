import { expect, test } from 'vitest';
import {
  type LimitSettings,
  limitsInForce,
  limitTexts,
  readLimits,
  sameFailures,
  timeIsOver,
  usedUp,
} from './budget.ts';

const read = (set: Record<string, string>) =>
  readLimits(
    (key) => set[key],
    (key, problem, hint) => new Error(`${key} ${problem}: ${hint}`),
  );
const local = (text: string) => new Date(text).getTime();
const NOW = local('2026-01-30T22:00');
const NOTHING = { usage: {}, ms: 0, failures: 0 };

test('X6 limits as people write them', () => {
  const costs = { '5': 5, '2.50': 2.5, $5: 5, none: 'none' };
  for (const [text, value] of Object.entries(costs)) expect(read({ 'max-cost': text })).toEqual({ 'max-cost': value });
  const tokens = { '2000000': 2e6, '2M': 2e6, '500k': 5e5, '1.1m': 1_100_000 };
  for (const [text, value] of Object.entries(tokens))
    expect(read({ 'max-tokens': text })).toEqual({ 'max-tokens': value });
  // A timer could not hold it, but it is none.
  expect(read({ 'max-duration': '30d' })).toEqual({ 'max-duration': 30 * 86_400_000 });
  for (const [key, text] of [
    ['max-cost', '0'],
    ['max-cost', ''],
    ['max-cost', '5 EUR'],
    ['max-cost', '1,000'],
    ['max-tokens', '2G'],
    ['max-tokens', '-1'],
    ['max-duration', 'all night'],
    ['until', '25:00'],
    ['until', '2026-01-31'],
    ['until', '2026-13-31T07:00'],
    ['max-failures', '2.5'],
    ['max-same-failures', '0'],
  ] as const) {
    expect(() => read({ [key]: text }), `${key}: ${text}`).toThrow(
      /^\S+ is not .*: write it like .*`none` is no limit/,
    );
  }
});

test('X6 a clock time is the next one after the start, whichever day that is; a date is as it is', () => {
  const at = (until: string, now = NOW) => limitsInForce({ until }, false, now).until;
  expect(at('07:00')).toBe(new Date(local('2026-01-31T07:00')).toISOString());
  expect(at('23:30')).toBe(new Date(local('2026-01-30T23:30')).toISOString());
  expect(at('22:00')).toBe(new Date(local('2026-01-31T22:00')).toISOString());
  expect(at('2026-01-01T07:00')).toBe(new Date(local('2026-01-01T07:00')).toISOString());
  expect(at('2026-01-31T07:00Z')).toBe('2026-01-31T07:00:00.000Z');
  expect(at('none')).toBeUndefined();
});

test('X6 three failures in a row at one place pause a task of an agent with a model, more in a large table, unless something else is set', () => {
  const cases: [LimitSettings, boolean, number | undefined][] = [
    [{}, true, 3],
    [{}, false, undefined],
    [{ 'max-same-failures': 2 }, false, 2],
    [{ 'max-same-failures': 'none' }, true, undefined],
  ];
  for (const [set, hasModel, most] of cases) {
    expect(sameFailures(set, hasModel, 120)).toBe(most);
    expect(limitsInForce(set, hasModel, NOW)['max-same-failures']).toBe(most);
  }
  // What chance alone makes of a table in which one in five fails.
  expect([126, 3000, 20_000].map((rows) => sameFailures({}, true, rows))).toEqual([4, 5, 7]);
  expect(limitsInForce({}, true, NOW, 20_000)['max-same-failures']).toBe(7);
  expect(sameFailures({ 'max-same-failures': 2 }, true, 20_000)).toBe(2);
});

test('X6 a limit is used up when it is reached: the text says by how much', () => {
  const reached = (set: LimitSettings, spent: object, now = NOW) =>
    usedUp(limitsInForce(set, false, NOW), { ...NOTHING, ...spent }, now)?.text;
  expect(reached({ 'max-cost': 5 }, { usage: { costUsd: 4.99 } })).toBeUndefined();
  expect(reached({ 'max-cost': 5 }, { usage: { costUsd: 5 } })).toBe('max-cost is used up: $5.00 of $5.00');
  const eightDimes = Array.from({ length: 8 }).reduce((sum: number) => sum + 0.1, 0);
  expect(reached({ 'max-cost': 0.8 }, { usage: { costUsd: eightDimes } })).toContain('$0.80 of $0.80');
  const tokens = { usage: { inputTokens: 1_900_000, outputTokens: 100_000 } };
  expect(reached({ 'max-tokens': 2_000_001 }, tokens)).toBeUndefined();
  expect(reached({ 'max-tokens': 2_000_000 }, tokens)).toBe('max-tokens is used up: 2000000 of 2M tokens');
  expect(reached({ 'max-duration': 5_400_000 }, { ms: 5_399_999 })).toBeUndefined();
  expect(reached({ 'max-duration': 5_400_000 }, { ms: 5_400_000 })).toBe('max-duration is used up: 1h 30m of 1h 30m');
  expect(reached({ until: '07:00' }, {}, local('2026-01-31T06:59'))).toBeUndefined();
  expect(reached({ until: '07:00' }, {}, local('2026-01-31T07:00'))).toBe('until 31 Jan 2026 07:00 is over');
  expect(reached({ 'max-failures': 2 }, { failures: 1 })).toBeUndefined();
  expect(reached({ 'max-failures': 2 }, { failures: 2 })).toBe('max-failures is used up: 2 failed in this run');
  expect(reached({ 'max-cost': 'none' }, { usage: { costUsd: 1000 } })).toBeUndefined();
});

test('X6 time is over at whichever comes first, and never where there is no such limit', () => {
  const spent = { ...NOTHING, ms: 3_600_000 };
  const over = (set: LimitSettings) => timeIsOver(limitsInForce(set, false, NOW), spent, NOW);
  expect(over({ 'max-cost': 5 })).toBe(Number.POSITIVE_INFINITY);
  expect(over({ 'max-duration': 2 * 3_600_000, until: '07:00' })).toBe(local('2026-01-30T23:00'));
  expect(over({ 'max-duration': 20 * 3_600_000, until: '07:00' })).toBe(local('2026-01-31T07:00'));
});

test('X6 limits for people: spent and limit, and that there is no cost limit where that could be expensive', () => {
  expect(limitTexts({}, NOTHING, false, NOW)).toEqual([]);
  expect(limitTexts(limitsInForce({}, true, NOW), NOTHING, true, NOW)).toEqual([
    'no cost limit',
    '3 failures in a row at one point pause a task',
  ]);
  const all: LimitSettings = {
    'max-cost': 5,
    'max-tokens': 500_000,
    'max-duration': 28_800_000,
    until: '07:00',
    'max-failures': 10,
  };
  const spent = { usage: { costUsd: 1.2, inputTokens: 100, outputTokens: 20 }, ms: 3_600_000, failures: 1 };
  expect(limitTexts(limitsInForce(all, false, NOW), spent, true, NOW)).toEqual([
    '$1.20 of $5.00',
    '120 of 500k tokens',
    '1h of 8h',
    'until 31 Jan 07:00',
    '1 of 10 failures in a run',
  ]);
});
