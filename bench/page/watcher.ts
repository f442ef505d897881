import { setTimeout as sleep } from 'node:timers/promises';
import { SHIFT } from '../project.ts';

/** As the page does. */
const ASK_EVERY_MS = 1000;
const ROWS = 200;

/** What it has received, so that a benchmark can tell that it was there. */
export interface Watched {
  readonly messages: number;
  /** How long each answer took, in milliseconds. */
  readonly answers: readonly number[];
}

/**
 * Does with the server what an open window on the grid does: holds the stream open, and asks for the shift and the rows
 * on the screen after each change, at most once a second. Until `signal` aborts.
 */
export async function watchGrid(url: string, signal: AbortSignal): Promise<Watched> {
  const { origin, hash } = new URL(url);
  const token = hash.replace('#token=', '');
  const session = await fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Nightshift': 'page' },
    body: JSON.stringify({ token }),
  });
  const headers = { Cookie: session.headers.get('set-cookie')!.split(';')[0]! };
  const watched = { messages: 0, answers: [] as number[] };
  const get = (path: string) => fetch(`${origin}/api/${path}`, { headers, signal });
  const ask = async (path: string) => {
    const since = performance.now();
    const answer = await get(path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.json();
    watched.answers.push(performance.now() - since);
  };
  const listen = async () => {
    const { body } = await get(`stream?shift=${SHIFT}`);
    for await (const piece of body!) watched.messages += Buffer.from(piece).toString().split('data: ').length - 1;
  };
  const look = async () => {
    for (let seen = -1; !signal.aborted; await sleep(ASK_EVERY_MS, undefined, { signal })) {
      if (seen === watched.messages) continue;
      seen = watched.messages;
      await Promise.all([ask(`shift?shift=${SHIFT}`), ask(`rows?shift=${SHIFT}&from=0&count=${ROWS}`)]);
    }
  };
  await Promise.all([listen(), look()]).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return watched;
}
