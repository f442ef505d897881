import { expect, test } from 'vitest';
import { retryPassing } from './retry.ts';

const refused = (code: string) => Object.assign(new Error(code), { code });

function failing(code: string, times: number): { work: () => string; calls: () => number } {
  let calls = 0;
  const work = () => {
    calls++;
    if (calls <= times) throw refused(code);
    return 'read';
  };
  return { work, calls: () => calls };
}

test('what is refused for want of descriptors is tried again, for a while', async () => {
  const passing = failing('EMFILE', 2);
  expect(await retryPassing(passing.work)).toBe('read');
  expect(passing.calls()).toBe(3);
  await expect(retryPassing(failing('ENFILE', Number.POSITIVE_INFINITY).work, 60)).rejects.toThrow('ENFILE');
});

test('anything else is not', async () => {
  const missing = failing('ENOENT', 1);
  await expect(retryPassing(missing.work)).rejects.toThrow('ENOENT');
  expect(missing.calls()).toBe(1);
});
