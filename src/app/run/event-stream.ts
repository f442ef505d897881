import { randomBytes } from 'node:crypto';
import { History } from '../../core/folds/history.ts';
import { workerOf } from '../../core/folds/item-worker.ts';
import type { Clock } from '../../core/model/clock.ts';
import type { Happening, NightshiftEvent, TranscriptHappening } from '../../core/model/events.ts';
import { setAsideText } from '../../store/folder/files/inside.ts';
import { Journal } from '../../store/folder/journal/journal.ts';
import type { JournalMemory } from '../../store/folder/journal/journal-memory.ts';
import { Ledger } from '../../store/folder/journal/ledger.ts';
import { Transcripts } from '../../store/folder/journal/transcripts.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { World } from '../world.ts';
import { processTime } from './process-time.ts';

/** The ledger is at most this far behind what was spent. */
const LEDGER_WITHIN_MS = 1000;

interface Listener {
  /** Called with each event as it happens. */
  readonly onEvent: (event: NightshiftEvent) => void;
  /** Called with each line of a transcript. */
  readonly onTranscript?: (happening: TranscriptHappening) => void;
  /** What `elapsed` of the events is measured by; without it, the active time of this process. */
  readonly clock?: Pick<Clock, 'elapsed'>;
  /** The label of an item, which its events get. */
  readonly labelOf?: (item: string, index: number | undefined) => string | undefined;
}

const HEARD: readonly NightshiftEvent['type'][] = ['usage:spent', 'steps:changed', 'steps:kept', 'lesson:changed'];

/** What the coordinator writes about an item also names the worker that had it. */
const RECORDS: readonly NightshiftEvent['type'][] = ['item:recorded', 'item:returned'];

/** A name for a run that began at this time (ISO 8601). */
export function newRun(since: string): string {
  return `${since.replace(/[-:.]/g, '').slice(0, 15)}-${randomBytes(3).toString('hex')}`;
}

/** Stamps each event and passes it to the journal, the history and the listeners. */
export class EventStream implements AsyncDisposable {
  readonly history = new History();
  readonly #run: string;
  readonly #paths: ShiftPaths;
  readonly #world: World;
  readonly #listener: Listener;
  readonly #transcripts: Transcripts;
  readonly #ledger: Ledger;
  #ledgerTimer: NodeJS.Timeout | undefined;
  #journal: Journal | undefined;
  readonly #failed = new AbortController();
  readonly #listeners: ((event: NightshiftEvent) => void)[] = [];
  #seq = 0;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #begunAt: number;

  constructor(run: string, paths: ShiftPaths, world: World, listener: Listener) {
    this.#run = run;
    this.#paths = paths;
    this.#world = world;
    this.#listener = listener;
    this.#clock = listener.clock ?? processTime();
    this.#begunAt = this.#clock.elapsed();
    this.#transcripts = new Transcripts(paths, world.now, (file, kept) => this.setAside(file, kept));
    this.#ledger = new Ledger(paths.folder, world.env);
  }

  /** Aborts when an event can't be written: from then on, spending would not be recorded. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /**
   * `onLost` is for the run of the shift: another program removed or damaged the journal, and the history was written
   * again. The run also rotates the journal.
   */
  async open(onLost?: () => void): Promise<this> {
    this.#journal = await Journal.open(this.#paths, this.#keeper(onLost));
    this.#journal.failed.addEventListener('abort', () => this.#failed.abort());
    const before = this.#ledger.read();
    if (before && this.history.atLeast(before)) {
      const what = 'the journal shows less than was spent: it, or a part of it, was removed';
      const remedy = `the amounts recorded in ${this.#ledger.file} count`;
      this.emit({ type: 'run:warning', message: `${what}; ${remedy}` });
      await this.#journal.continue();
    }
    return this;
  }

  /** Reports a link, or another strange file, that was in the place of one of Nightshift's own. */
  readonly setAside = (file: string, kept: string): void => {
    this.emit({ type: 'run:warning', message: setAsideText(file, kept) });
  };

  #keeper(onLost?: () => void): JournalMemory {
    const { history } = this;
    return {
      run: this.#run,
      mayRotate: onLost !== undefined,
      read: (value, isFirst) => history.read(value, isFirst),
      heard: (event) => {
        // Other commands may add only these during a run. Anything else is forged.
        if (HEARD.includes(event.type)) this.#learn(event);
      },
      checkpoint: () => history.checkpoint({ at: this.#at(), run: this.#run, shift: this.#paths.name }),
      lost: (what) => {
        const message = `${this.#paths.journal} ${what} by another program; what is known was written again`;
        this.emit({ type: 'run:warning', message });
        onLost?.();
      },
      setAside: this.setAside,
    };
  }

  readonly emit = (happening: Happening | TranscriptHappening): void => {
    if (happening.type === 'transcript') {
      this.#transcripts.add(happening);
      this.#listener.onTranscript?.(happening);
      return;
    }
    const { type, ...rest } = happening;
    const elapsed = Math.round(this.#clock.elapsed() - this.#begunAt);
    const stamp = { at: this.#at(), run: this.#run, seq: ++this.#seq, elapsed, shift: this.#paths.name };
    const label = rest.item === undefined ? undefined : this.#listener.labelOf?.(rest.item, rest.index);
    const worker = RECORDS.includes(type) ? workerOf(this.history.of(rest.task ?? '', rest.item ?? '')) : undefined;
    const named = { ...(label !== undefined && { label }), ...(worker !== undefined && { worker }) };
    const event = { type, ...stamp, ...rest, ...named } as NightshiftEvent;
    this.#closeTranscript(event);
    this.#journal?.append(event);
    this.#learn(event, this.#listener.onEvent);
  };

  #learn(event: NightshiftEvent, tell: (event: NightshiftEvent) => void = () => {}): void {
    this.history.add(event);
    const isCounted = event.type === 'usage:spent' || event.type === 'item:recorded';
    if (isCounted) this.#ledgerTimer ??= setTimeout(() => this.#keepLedger(), LEDGER_WITHIN_MS);
    tell(event);
    for (const listener of this.#listeners) listener(event);
  }

  #keepLedger(): void {
    clearTimeout(this.#ledgerTimer);
    this.#ledgerTimer = undefined;
    if (this.#journal) this.#ledger.write({ usage: this.history.usage, ms: this.history.tally.ms });
  }

  #at(): string {
    return new Date(this.#world.now()).toISOString();
  }

  /** Calls back after each event, when the history has it. */
  readonly listen = (listener: (event: NightshiftEvent) => void): void => {
    this.#listeners.push(listener);
  };

  #closeTranscript(event: NightshiftEvent): void {
    if (event.type !== 'dev:finished' && event.type !== 'qa:finished') return;
    this.#transcripts.close(event.task ?? '', event.key, event.type === 'dev:finished' ? 'dev' : 'qa');
  }

  async flush(): Promise<void> {
    await this.#journal?.flush();
  }

  /** Throws if an event could not be written. */
  checkKept(): void {
    this.#journal?.check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transcripts[Symbol.asyncDispose]();
    this.#keepLedger();
    await this.#journal?.[Symbol.asyncDispose]();
  }
}
