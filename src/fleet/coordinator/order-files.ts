import type { Order } from '../../core/model/model.ts';
import { usesFolder } from '../../core/model/shift-names.ts';
import { type Bundle, PIECE } from '../bundle.ts';
import type { Queryable } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { DatabaseLink } from './database-link.ts';
import type { Epoch } from './epoch.ts';
import type { FleetOptions } from './fleet-options.ts';

/** Files of the shift's folder, as they are now. */
export interface FilesOfShift {
  /** Throws if they can't be packed, and never could. */
  latest(): Promise<Bundle>;
}

/** The bundles in the database that orders of a run name. */
export class OrderFiles {
  readonly #options: Pick<FleetOptions, 'database' | 'shift' | 'files' | 'place'>;
  readonly #epoch: Epoch;
  readonly #link: DatabaseLink;
  /** The hash of the bundle that the next order gets. */
  #latest: string | undefined;
  /** Those that the database may have. */
  readonly #kept = new Set<string>();

  constructor(options: FleetOptions, epoch: Epoch, link: DatabaseLink) {
    this.#options = options;
    this.#epoch = epoch;
    this.#link = link;
  }

  /** Finds what an earlier run has left. */
  async find(): Promise<void> {
    const { database, shift } = this.#options;
    const { rows } = await this.#link.untilAnswered(() =>
      database.query<{ hash: string }>(`select hash from ${SCHEMA}.bundle where shift = $1`, [shift.key]),
    );
    for (const { hash } of rows) this.#kept.add(hash);
  }

  /** What an order takes along. Undefined: it uses no such file, or works on a volume that has them. */
  async of(order: Order): Promise<Bundle | undefined> {
    const { place, files } = this.#options;
    const isOnVolume = typeof place({ ...order, hasWorkspace: order.workspace !== undefined }) === 'object';
    if (isOnVolume || !usesFolder(order)) return undefined;
    const bundle = await files.latest();
    this.#latest = bundle.hash;
    this.#kept.add(bundle.hash);
    return bundle;
  }

  /** A worker could not use it: it was altered in the database, or is missing there. */
  async restore(bundle: Bundle): Promise<void> {
    const { database, shift } = this.#options;
    const write = async (own: Queryable) => {
      await own.query(`delete from ${SCHEMA}.bundle where shift = $1 and hash = $2`, [shift.key, bundle.hash]);
      await writePieces(own, shift.key, bundle);
    };
    await this.#link.unlessGivenUp(this.#link.untilAnswered(() => this.#epoch.write(database, write)));
  }

  /** Removes what neither these orders nor the next one need. `isOver`: there is no next one. */
  async tidy(named: ReadonlySet<string>, isOver = false): Promise<void> {
    if (isOver) this.#latest = undefined;
    const unused = [...this.#kept].filter((hash) => hash !== this.#latest && !named.has(hash));
    if (unused.length === 0) return;
    const { database, shift } = this.#options;
    // Before: an order that is made meanwhile may keep one again.
    for (const hash of unused) this.#kept.delete(hash);
    try {
      await this.#epoch.write(database, (own) =>
        own.query(`delete from ${SCHEMA}.bundle where shift = $1 and hash = any($2)`, [shift.key, unused]),
      );
    } catch (error) {
      for (const hash of unused) this.#kept.add(hash);
      throw error;
    }
  }
}

/**
 * In the transaction that sends an order, so that none is there without its files: the database may be an older one,
 * or another, at any time.
 */
export async function keepBundle(own: Queryable, shift: string, bundle: Bundle): Promise<void> {
  const { rows } = await own.query(`select from ${SCHEMA}.bundle where shift = $1 and hash = $2 limit 1`, [
    shift,
    bundle.hash,
  ]);
  if (rows.length === 0) await writePieces(own, shift, bundle);
}

async function writePieces(own: Queryable, shift: string, { hash, bytes }: Bundle): Promise<void> {
  for (let piece = 0; piece * PIECE < bytes.length; piece++) {
    await own.query(`insert into ${SCHEMA}.bundle (shift, hash, piece, bytes) values ($1, $2, $3, $4)`, [
      shift,
      hash,
      piece,
      bytes.subarray(piece * PIECE, (piece + 1) * PIECE),
    ]);
  }
}
