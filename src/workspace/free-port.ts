import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { NightshiftError } from '../core/model/errors.ts';

/** Below the ports that systems give to outgoing connections. */
const FIRST = 20_000;
const COUNT = 10_000;

/** A port for each workspace. The same one until the workspace is removed; no two have the same. */
export class Ports {
  readonly #ports = new Map<string, number>();
  readonly #taken = new Set<number>();
  readonly #count: number;

  constructor(count = COUNT) {
    this.#count = count;
  }

  async of(id: string): Promise<number> {
    const known = this.#ports.get(id);
    if (known !== undefined) return known;
    const start = createHash('sha256').update(id).digest().readUInt32BE() % this.#count;
    for (let step = 0; step < this.#count; step++) {
      const port = FIRST + ((start + step) % this.#count);
      if (this.#taken.has(port)) continue;
      // Taken before the test: two workspaces that open at once test different ports.
      this.#taken.add(port);
      if (await isFree(port)) {
        this.#ports.set(id, port);
        return port;
      }
      this.#taken.delete(port);
    }
    const range = `${FIRST} to ${FIRST + this.#count - 1}`;
    throw new NightshiftError('resources', `no port from ${range} is free for a workspace`, 'remove workspaces');
  }

  release(id: string): void {
    this.#taken.delete(this.#ports.get(id) ?? 0);
    this.#ports.delete(id);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
