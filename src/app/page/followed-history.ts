import { History } from '../../core/folds/history.ts';
import type { JournalPlace } from '../../core/page/stream-position.ts';
import { BEGINNING, readOn } from '../../store/folder/journal/journal-place.ts';
import { journalEnd, parseLine } from '../../store/folder/journal/journal-reader.ts';
import { Ledger } from '../../store/folder/journal/ledger.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { World } from '../world.ts';

/** The history of a shift that is read again and again: each time only what is new in the journal. */
export class FollowedHistory {
  readonly #env: World['env'];
  #history = new History();
  #place: JournalPlace | undefined;
  #isNew = true;

  constructor({ env }: Pick<World, 'env'>) {
    this.#env = env;
  }

  /** The same object as last time, unless the journal was replaced. */
  async read(paths: ShiftPaths): Promise<History> {
    while (!(await this.#readOn(paths))) this.#place = undefined;
    return this.#history;
  }

  /** False if what was read is not the journal any more. */
  async #readOn(paths: ShiftPaths): Promise<boolean> {
    // Before the journal: what a run has added to both by then is not missing in the journal.
    const spent = this.#place === undefined ? new Ledger(paths.folder, this.#env).read() : undefined;
    if (this.#place === undefined) {
      this.#history = new History();
      this.#isNew = true;
      this.#place = startOfCurrent(paths.journal);
    }
    for (;;) {
      const step = await readOn(paths.journal, this.#place);
      if (!step) return false;
      for (const { bytes, start } of step.lines) {
        // The checkpoint of a file that continues this one has nothing new, except for the events in it.
        this.#history.read(parseLine(bytes), start === 0 && this.#isNew);
        this.#isNew = false;
      }
      this.#place = step.place;
      if (step.isAtEnd) break;
    }
    if (spent) this.#history.atLeast(spent);
    return true;
  }
}

/** Each file begins with everything known before. */
function startOfCurrent(journal: string): JournalPlace {
  return { ...BEGINNING, file: journalEnd(journal)?.id ?? '' };
}
