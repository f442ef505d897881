import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { History } from '../../src/core/folds/history.ts';
import type { NightshiftEvent } from '../../src/core/model/events.ts';
import { Journal } from '../../src/store/folder/journal/journal.ts';

/** A journal in a folder of its own, written by one run and by people. */
export class WrittenJournal {
  readonly folder: string;
  readonly file: string;
  readonly #history = new History();
  #journal: Journal | undefined;
  #seq = 0;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'nightshift-journal-'));
    this.file = join(this.folder, '.engine', 'journal.jsonl');
    mkdirSync(join(this.folder, '.engine'));
    onTestFinished(async () => {
      await this.#journal?.[Symbol.asyncDispose]();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /** So many events of the run, about items i0 to i4. */
  async tell(count = 1): Promise<void> {
    const journal = await this.#open();
    for (let i = 0; i < count; i++) {
      const event = eventOf('r1', ++this.#seq);
      journal.append(event);
      this.#history.add(event);
    }
    await journal.flush();
  }

  /** An edit by a person, in a process of its own. */
  async edit(): Promise<void> {
    await using journal = await Journal.open(this);
    const at = new Date().toISOString();
    journal.append({ type: 'table:edited', at, run: '', seq: 0, shift: 's', changes: [], by: 'process 1' });
    await journal.flush();
  }

  /** Continues in a new file, with some events that were not written to the old one. */
  async rotate(waiting = 0): Promise<void> {
    const journal = await this.#open();
    for (let i = 0; i < waiting; i++) {
      const event = eventOf('r1', ++this.#seq);
      journal.append(event);
      this.#history.add(event);
    }
    await journal.continue();
  }

  get journal(): string {
    return this.file;
  }

  async #open(): Promise<Journal> {
    const history = this.#history;
    this.#journal ??= await Journal.open(this, {
      run: 'r1',
      mayRotate: true,
      read: (value, isFirst) => history.read(value, isFirst),
      heard: (event) => history.add(event),
      checkpoint: () => history.checkpoint({ at: new Date().toISOString(), run: 'r1', shift: 's' }),
      lost: () => {},
      setAside: () => {},
    });
    return this.#journal;
  }
}

function eventOf(run: string, seq: number): NightshiftEvent {
  const about = { task: seq % 2 === 0 ? 'work' : 'check', item: `i${seq % 5}`, index: seq % 5 };
  const at = new Date().toISOString();
  const usage = { type: 'usage:spent', role: 'dev', agent: 'a', usage: { costUsd: 1 } };
  const learned = {
    type: 'steps:changed',
    from: 'a',
    to: `v${seq}`,
    summary: '',
    lessons: [],
    batch: 1,
    considered: [],
  };
  const attempt = { type: 'attempt:finished', status: 'SUCCESS' };
  const event = seq === 7 ? learned : seq % 3 === 0 ? attempt : usage;
  return { at, run, seq, shift: 's', ...about, ...event } as NightshiftEvent;
}
