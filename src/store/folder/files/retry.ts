import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient } from '../../../core/model/system-errors.ts';

/** Longer than many short programs hold on to their descriptors and memory. */
const RETRY_MS = 10_000;
const PAUSE_MS = 50;

/** Retries what the system refuses for lack of descriptors or memory, then throws its error. */
export async function retryPassing<T>(work: () => T | Promise<T>, milliseconds = RETRY_MS): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() >= end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}
