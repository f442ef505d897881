import { randomBytes } from 'node:crypto';
import type { Happening, NightshiftEvent, TranscriptHappening } from '../core/events.ts';
import { History } from '../core/history.ts';
import { Journal } from '../store/journal.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { Transcripts } from '../store/transcripts.ts';
import { readHistory } from './history.ts';
import type { Io } from './io.ts';

interface Listener {
  /** Everything that happens, as it happens. */
  readonly onEvent: (event: NightshiftEvent) => void;
  /** What is said in sessions, as it is said. */
  readonly onTranscript?: (happening: TranscriptHappening) => void;
}

/** A name for a run that began at this time (ISO 8601). */
export function newRun(since: string): string {
  return `${since.replace(/[-:.]/g, '').slice(0, 15)}-${randomBytes(3).toString('hex')}`;
}

/** Stamps what happens and hands it to the journal, the history and whoever looks on. */
export class EventStream implements AsyncDisposable {
  history = new History();
  readonly #run: string;
  readonly #paths: ShiftPaths;
  readonly #io: Io;
  readonly #listener: Listener;
  readonly #transcripts: Transcripts;
  #journal: Journal | undefined;
  readonly #listeners: ((event: NightshiftEvent) => void)[] = [];
  #seq = 0;
  /** Item-tasks that were begun and have not ended. */
  readonly #begun = new Set<string>();

  constructor(run: string, paths: ShiftPaths, io: Io, listener: Listener) {
    this.#run = run;
    this.#paths = paths;
    this.#io = io;
    this.#listener = listener;
    this.#transcripts = new Transcripts(paths, io.now);
  }

  /** How many are in flight, also between their dev and their qa. */
  get running(): number {
    return this.#begun.size;
  }

  async open(): Promise<this> {
    this.history = await readHistory(this.#paths);
    this.#journal = await Journal.open(this.#paths.journal);
    return this;
  }

  readonly emit = (happening: Happening | TranscriptHappening): void => {
    if (happening.type === 'transcript') {
      this.#transcripts.add(happening);
      this.#listener.onTranscript?.(happening);
      return;
    }
    const at = new Date(this.#io.now()).toISOString();
    const { type, ...rest } = happening;
    const event = { type, at, run: this.#run, seq: ++this.#seq, shift: this.#paths.name, ...rest } as NightshiftEvent;
    this.#follow(event);
    this.#journal?.append(event);
    this.history.add(event);
    this.#listener.onEvent(event);
    for (const listener of this.#listeners) listener(event);
  };

  /** Calls back after each event, when the history has it. */
  readonly listen = (listener: (event: NightshiftEvent) => void): void => {
    this.#listeners.push(listener);
  };

  #follow(event: NightshiftEvent): void {
    const name = `${event.task} ${event.item}`;
    if (event.type === 'dev:started' || event.type === 'qa:started') this.#begun.add(name);
    if (hasEnded(event)) this.#begun.delete(name);
    if (event.type !== 'dev:finished' && event.type !== 'qa:finished') return;
    this.#transcripts.close(event.task ?? '', event.key, event.type === 'dev:finished' ? 'dev' : 'qa');
  }

  async flush(): Promise<void> {
    await this.#journal?.flush();
  }

  /** Throws if an event could not be kept. */
  checkKept(): void {
    this.#journal?.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transcripts[Symbol.asyncDispose]();
    await this.#journal?.[Symbol.asyncDispose]();
  }
}

function hasEnded(event: NightshiftEvent): boolean {
  if (event.type === 'item:recorded') return event.to !== 'qa';
  return event.type === 'item:returned' || event.type === 'item:withdrawn';
}
