import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Usage } from '../../../core/model/model.ts';
import { temporaryName } from '../files/atomic-write.ts';
import { readHere } from '../files/read-here.ts';

/** What a shift has spent in all its runs. */
export interface Total {
  readonly usage: Usage;
  readonly ms: number;
}

/**
 * A second record of what a shift has spent, outside of the project: `git clean -fdx` removes the journal, and must
 * not refill `max-cost`. The journal is the record; this one fills in what the journal lost. Best-effort: if it can't
 * be written, nothing fails.
 */
export class Ledger {
  /** Undefined where there is no home to keep it in. */
  readonly file: string | undefined;
  readonly #folder: string;

  constructor(folder: string, { XDG_STATE_HOME, HOME }: Readonly<Record<string, string | undefined>>) {
    const state = XDG_STATE_HOME || (HOME && join(HOME, '.local/state'));
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    this.file = state ? join(state, 'nightshift', `${name}.json`) : undefined;
    this.#folder = folder;
  }

  read(): Total | undefined {
    if (this.file === undefined) return undefined;
    try {
      const { id, usage, ms } = JSON.parse(readHere(this.file));
      const amounts = [ms, ...Object.values(usage)];
      const isSound = amounts.every((amount) => typeof amount === 'number' && amount >= 0);
      const isThis = id === identityOf(this.#folder) || hasProgress(this.#folder);
      return isSound && isThis ? { usage, ms } : undefined;
    } catch {
      return undefined;
    }
  }

  write(total: Total): void {
    const id = identityOf(this.#folder);
    if (this.file === undefined || id === undefined) return;
    const temporary = join(dirname(this.file), temporaryName('spent'));
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      writeFileSync(temporary, JSON.stringify({ folder: this.#folder, id, ...total }), { mode: 0o600, flag: 'wx' });
      renameSync(temporary, this.file);
    } catch {
      try {
        unlinkSync(temporary);
      } catch {}
    }
  }
}

/**
 * A folder that was removed and created again is another shift, which has spent nothing, as long as no item was begun
 * in it.
 */
function identityOf(folder: string): string | undefined {
  const found = lstatSync(folder, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

const BEGUN = /(?:^|[,"])(?:in_progress|qa|done|failed)(?:[,"\r]|$)/m;

/** Whether the table shows work. Then the shift was restored, from a branch or a backup, without its journal. */
function hasProgress(folder: string): boolean {
  return BEGUN.test(readHere(join(folder, 'table.csv')));
}
