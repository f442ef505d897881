import type { CarriedWorkspace } from '../core/workspace/carried.ts';
import { hasLogin } from '../core/workspace/login.ts';
import { NotThere } from './base.ts';
import { GitFailure } from './git.ts';
import { isAddress, type Mirrors } from './mirror.ts';
import type { Origin, OriginFinder } from './origin.ts';
import { RelayFailure } from './relay.ts';
import type { Sources } from './sources.ts';

type Wanted = Parameters<OriginFinder['find']>[0];

/** On a worker: the mirrors of relays, which orders name. */
export class CarriedOrigins implements OriginFinder {
  readonly #mirrors: Mirrors;
  readonly #sources: Sources;

  constructor(mirrors: Mirrors, sources: Sources) {
    this.#mirrors = mirrors;
    this.#sources = sources;
  }

  async find({ carried, signal }: Wanted): Promise<Origin> {
    if (carried === undefined) throw new NotThere('its order does not say where its workspace begins');
    const { relay, below } = carried;
    const mirror = await this.#mirror(carried, signal);
    return { from: relay, source: await this.#sources.of(mirror), below, files: mirror };
  }

  async again({ from }: { readonly from: string }, signal: AbortSignal): Promise<Origin> {
    const mirror = this.#mirrors.known(from) ?? (await this.#mirrors.fresh(from, signal));
    return { from, source: await this.#sources.of(mirror), below: '', files: mirror };
  }

  async base(_: Origin, { carried }: Wanted): Promise<string | undefined> {
    return carried?.base;
  }

  async #mirror({ relay, base, baseRef }: CarriedWorkspace, signal: AbortSignal): Promise<string> {
    if (!isAddress(relay) || hasLogin(relay)) throw new NotThere(`its order has no address of a relay: ${relay}`);
    try {
      return await this.#mirrors.having(relay, { commit: base, ref: baseRef }, signal);
    } catch (error) {
      if (error instanceof RelayFailure || !(error instanceof GitFailure)) throw error;
      const { said, isRefusal } = error;
      const result = isRefusal
        ? { kind: 'refused' as const, code: 128, said }
        : { kind: 'not-run' as const, reason: said };
      throw new RelayFailure(relay, "can't be fetched", result);
    }
  }
}
