import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from '../../../core/model/system-errors.ts';

/** Longer than a crowd of short programs holds on to its descriptors and its memory. */
const RETRY_MS = 10_000;
const PAUSE_MS = 50;

/** Repeats what the system refuses for want of descriptors or memory, which others give back; then throws what it said. */
export async function retryPassing<T>(work: () => T | Promise<T>, milliseconds = RETRY_MS): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() >= end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
