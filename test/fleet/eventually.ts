import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for something that takes a question to find out, such as one to the database. A question may fail. */
export async function eventually(what: string, ask: () => Promise<boolean>, milliseconds = 60_000): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + milliseconds; Date.now() < end; await sleep(50)) {
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`waited in vain for ${what}`, { cause: last });
}
