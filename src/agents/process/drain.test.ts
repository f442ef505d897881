import { stat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { drain } from './drain.ts';

const LONGER_THAN_THE_WAIT_MS = 1200;

test('X4 output that is in a pipe is read, also if the process stood still', async () => {
  // Timers come next, and then what the system has ready.
  await turn();
  let isRead = false;
  const ended = stat('/').then(() => {
    isRead = true;
  });
  const drained = drain(ended);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGER_THAN_THE_WAIT_MS);
  await drained;
  expect(isRead).toBe(true);
});

test('S13 a process that holds a pipe open does not keep the others waiting', async () => {
  await drain(new Promise(() => {}));
});
