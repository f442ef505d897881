import { type AskRemote, pushTo, type Relay, type Sending } from './relay.ts';

/** What relays got in this run. */
export class SentRefs {
  readonly #sent = new Map<string, Promise<void>>();

  has({ address }: Pick<Relay, 'address'>, ref: string): boolean {
    return this.#sent.has(keyOf(address, ref));
  }

  add({ address }: Pick<Relay, 'address'>, ref: string): void {
    this.#sent.set(keyOf(address, ref), Promise.resolve());
  }

  /** It was deleted, or may be gone. */
  forget(address: string, refs: readonly (string | undefined)[]): void {
    for (const ref of refs) if (ref !== undefined) this.#sent.delete(keyOf(address, ref));
  }

  clear(): void {
    this.#sent.clear();
  }

  /** Once in a run; rows that begin together send their base once. */
  async send({ remote, address }: Relay, what: Sending, ask: AskRemote): Promise<void> {
    const key = keyOf(address, what.ref);
    const sending = this.#sent.get(key) ?? pushTo(remote, what, ask);
    this.#sent.set(key, sending);
    try {
      await sending;
    } catch (error) {
      if (this.#sent.get(key) === sending) this.#sent.delete(key);
      throw error;
    }
  }
}

function keyOf(address: string, ref: string): string {
  return `${address} ${ref}`;
}
