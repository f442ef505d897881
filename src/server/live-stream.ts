import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamItem } from '../app/page/page.ts';
import { contentPolicy, SAFETY } from './answers.ts';

/** Shorter than what anything between page and server takes for dead, such as an SSH tunnel. */
const HEARTBEAT_MS = 15_000;
/** For a client that takes nothing any more. */
const GIVE_UP_MS = 30_000;
const RECONNECT_MS = 1000;

/**
 * Sends messages as server-sent events until the client is gone or `messages` ends. The next one is taken only when
 * the client has taken the last, so a slow client costs no memory; one that has stopped reading is cut off.
 */
export async function sendStream(response: ServerResponse, messages: AsyncIterable<StreamItem>): Promise<void> {
  response.writeHead(200, {
    ...SAFETY,
    ...contentPolicy(),
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  const beat = () => response.writableNeedDrain || response.write(':\n\n');
  const beats = setInterval(beat, HEARTBEAT_MS).unref();
  try {
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    for await (const { id, message } of messages) {
      const name = id === undefined ? '' : `id: ${id}\n`;
      const hasRoom = response.write(`${name}data: ${JSON.stringify(message)}\n\n`);
      if (response.destroyed || (!hasRoom && !(await drained(response)))) break;
    }
  } finally {
    clearInterval(beats);
  }
  response.end();
}

/** False: the client is gone, or takes too long. */
async function drained(response: ServerResponse): Promise<boolean> {
  using over = new Abort();
  const { signal } = over;
  const ends = [
    once(response, 'drain', { signal }).then(() => true),
    once(response, 'close', { signal }).then(() => false),
    sleep(GIVE_UP_MS, false, { signal, ref: false }),
  ];
  const isDrained = await Promise.race(ends);
  for (const end of ends) end.catch(() => {});
  if (!isDrained) response.destroy();
  return isDrained;
}

/** Aborts when it goes out of scope. */
class Abort implements Disposable {
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#controller.abort();
  }
}
