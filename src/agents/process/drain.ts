import { setTimeout as delay } from 'node:timers/promises';

/** For output that is still in the pipes when the program has exited. Processes that hold them longer have escaped. */
const DRAIN_MS = 1000;
const STEP_MS = 20;

/**
 * Waits for the end of the output, in short steps. Node fires a timer before it reads: after one long wait, during
 * which a slow disk or a stop held this process up, it would give up on what is in the pipes.
 */
export async function drain(ended: Promise<unknown>): Promise<void> {
  let isEnded = false;
  const end = ended.then(() => {
    isEnded = true;
  });
  for (let waited = 0; waited < DRAIN_MS && !isEnded; waited += STEP_MS) await Promise.race([end, delay(STEP_MS)]);
}
