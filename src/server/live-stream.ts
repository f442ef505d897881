import type { ServerResponse } from 'node:http';
import type { StreamItem } from '../app/page/page.ts';
import { contentPolicy, SAFETY } from './answers.ts';

/** Shorter than what anything between page and server takes for dead, such as an SSH tunnel. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 1000;

/**
 * Sends messages as server-sent events until the client is gone or `messages` ends. The next one is taken only when
 * the client has taken the last, so a slow client costs no memory. The server cuts off one that has stopped reading.
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
      if (!hasRoom && !response.destroyed) await drained(response);
      if (response.destroyed) break;
    }
  } finally {
    clearInterval(beats);
  }
  response.end();
}

/** Until the client takes more, or is gone. */
async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}
