import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { reportFor } from './reports.ts';
import type { World } from './world.ts';

const AGENT = resolve('bench/programs/world-agent.sh');

/** Answers the agents of one night: processes that read their prompt and print a report, as any `command` agent. */
export class AgentHost implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nightshift-bench-host-'));
  readonly #calls: Socket;
  readonly #world: World;
  /** The command line of the agent. */
  readonly command = `sh ${AGENT} ${this.#folder}`;

  constructor(world: World) {
    this.#world = world;
    const calls = join(this.#folder, 'calls');
    execFileSync('mkfifo', [calls]);
    // Open for writing too: a FIFO ends for its reader when its last writer is gone.
    this.#calls = new Socket({ fd: openSync(calls, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
    createInterface(this.#calls).on('line', (call) => this.#answer(call));
  }

  #answer(call: string): void {
    const [pid, role, row, number] = call.split(' ');
    const file = (kind: string) => join(this.#folder, `${pid}.${kind}`);
    const prompt = readFileSync(file('prompt'), 'utf8');
    const report = reportFor(this.#world, { role: role!, prompt, row: Number(row), number: Number(number) });
    const fd = openSync(file('report'), constants.O_WRONLY | constants.O_NONBLOCK);
    writeFileSync(fd, `${JSON.stringify(report)}\n`);
    closeSync(fd);
    for (const kind of ['prompt', 'report']) rmSync(file(kind));
  }

  [Symbol.dispose](): void {
    this.#calls.destroy();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
