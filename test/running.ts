import type { ChildProcess } from 'node:child_process';

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Standard output as JSON lines; for `start --json`, the events. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
  events: any[];
}

/** A command of nightshift that is still going on, and what it has printed until now. */
export abstract class Running {
  abstract readonly ended: Promise<Ended>;
  stderr = '';
  #stdout = '';
  /** How much of the output is in `events`. */
  #parsed = 0;
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  readonly #events: any[] = [];

  get stdout(): string {
    return this.#stdout;
  }

  /** Standard output as JSON lines. */
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  get events(): any[] {
    const whole = this.#stdout.lastIndexOf('\n') + 1;
    this.#events.push(...jsonLines(this.#stdout.slice(this.#parsed, whole)));
    this.#parsed = Math.max(this.#parsed, whole);
    return this.#events;
  }

  print(text: string): void {
    this.#stdout += text;
  }

  /** Waits until an event of this type (and kind) was printed. */
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  async seen(type: string, matches: (event: any) => boolean = () => true): Promise<any> {
    return until(
      () => this.events.find((event) => event.type === type && matches(event)),
      () => `event ${type}\n${this.stderr}`,
    );
  }

  protected asEnded(code: number | null, signal: NodeJS.Signals | null): Ended {
    return { code, signal, stdout: this.stdout, stderr: this.stderr, events: this.events };
  }
}

/** In a process of its own, which can be killed. */
export class RunningProcess extends Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(child: ChildProcess) {
    super();
    this.child = child;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.print(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolveEnded) => {
      child.once('close', (code, signal) => resolveEnded(this.asEnded(code, signal)));
    });
  }

  get pid(): number {
    return this.child.pid!;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

/** Those that are JSON. */
// biome-ignore lint/suspicious/noExplicitAny: events of every kind
export function jsonLines(text: string): any[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** Waits until something is true, or fails with what it was. */
export async function until<T>(
  probe: () => T | undefined | false,
  what: string | (() => string),
  milliseconds = 60_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const found = probe();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${milliseconds} ms for ${typeof what === 'string' ? what : what()}`);
    await sleep(20);
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((wake) => setTimeout(wake, milliseconds));
}
