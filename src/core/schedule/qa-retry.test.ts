import { expect, test } from 'vitest';
import { mayGoBack, verdictText } from './qa-retry.ts';

const settings = { qaRetries: 2, attempts: 3, timeoutMs: 1000 };

test.each([
  ['all of them are left', { attempts: 2, ms: 999, qaRetries: 1 }, true],
  ['no attempt is left', { attempts: 3, ms: 0, qaRetries: 0 }, false],
  ['no retry is left', { attempts: 1, ms: 0, qaRetries: 2 }, false],
  ['no time is left', { attempts: 1, ms: 1000, qaRetries: 0 }, false],
])('Q3 D3 an item goes back to its dev only while attempts, retries and time are left: %s', (_, used, expected) => {
  expect(mayGoBack(settings, used)).toBe(expected);
});

test('Q3 the dev is told each criterion that failed, and why, and nothing of the others', () => {
  const verdicts = [
    { criterion: 'It is blue', status: 'FAIL', reason: 'it is red' },
    { criterion: 'It is round', status: 'PASS' },
    { criterion: 'It is new', status: 'FAIL' },
  ] as const;
  expect(verdictText(verdicts)).toBe('- It is blue\n  it is red\n- It is new\n  no reason was given');
  expect(verdictText([verdicts[1]], 'overall FAIL')).toBe('overall FAIL');
});
