import { type BundledFile, MOST_PIECES, openBundle } from '../bundle.ts';
import { type Queryable, untilAnswered } from '../database.ts';
import type { SentOrder } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';

/** The files that an order takes along; or why they are not used. Waits for a database that can't be reached. */
export async function fetchBundle(
  database: Queryable,
  { shift }: SentOrder,
  hash: string,
  signal: AbortSignal,
): Promise<readonly BundledFile[] | string> {
  const pieces: Buffer[] = [];
  // One statement for each piece, so that heartbeats on the same connection are not delayed.
  while (pieces.length < MOST_PIECES) {
    const { rows } = await untilAnswered(
      () =>
        database.query<{ bytes: Buffer }>(
          `select bytes from ${SCHEMA}.bundle where shift = $1 and hash = $2 and piece = $3`,
          [shift.key, hash, pieces.length],
        ),
      { signal },
    );
    const [found] = rows;
    if (!found) break;
    pieces.push(found.bytes);
  }
  if (pieces.length === 0) return 'the files of its shift are missing in the database';
  return openBundle(Buffer.concat(pieces), hash);
}
