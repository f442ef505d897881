import type { IncomingMessage } from 'node:http';
import { badRequest, type Refusal } from './guard.ts';

/** A hundred thousand rows by their identities. */
const MOST_BYTES = 4 * 1024 * 1024;

const TOO_LARGE: Refusal = { status: 413, code: 'too-large', message: 'the body of the request is too large' };

/** The body as JSON. Undefined: the client is gone. */
export async function readBody(
  request: IncomingMessage,
): Promise<{ json: unknown } | { refusal: Refusal } | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of request) {
      size += piece.length;
      // Read on, or the client would not read the answer. The server limits the time of a request.
      if (size <= MOST_BYTES) pieces.push(piece);
    }
  } catch {
    return undefined;
  }
  if (size > MOST_BYTES) return { refusal: TOO_LARGE };
  try {
    return { json: JSON.parse(Buffer.concat(pieces).toString('utf8')) };
  } catch {
    return { refusal: badRequest('the body is not JSON') };
  }
}
