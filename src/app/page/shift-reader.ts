import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { History } from '../../core/folds/history.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { Shift } from '../../core/model/shift.ts';
import type { ShiftId } from '../../core/page/answers.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { journalEnd } from '../../store/folder/journal/journal-reader.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder, type Holder } from '../../store/folder/run-lock.ts';
import { readError } from '../../store/folder/table/table-file.ts';
import { compileOnce } from '../compile-once.ts';
import { listHeldRows } from '../kept-workspaces.ts';
import { checkName } from '../open-shift.ts';
import type { World } from '../world.ts';
import { FollowedHistory } from './followed-history.ts';
import { FollowedTable, printOf, type ReadTable } from './followed-table.ts';
import { Grid } from './grid.ts';
import { findShiftPlace, type ShiftPlace } from './shift-place.ts';

/** A shift as it was at one moment; the history may have more by now. */
export interface ShiftReading extends ReadTable {
  readonly place: ShiftPlace;
  readonly version: string;
  /** The process that runs it. */
  readonly holder: Holder | undefined;
  readonly shift: Shift;
  readonly history: History;
  readonly grid: Grid;
  /** The rows whose result waits for `nightshift deliver`, 0-based. */
  readonly held: readonly number[];
  /** The journal is still being read: reasons, times and money may be missing. */
  readonly isPartial: boolean;
  /** Names rows for people. */
  readonly labels: RowLabels;
}

/** So often a shift is read again at most, and this many times as long as it took: a run needs the machine more. */
const READ_EVERY_MS = 1000;
const READ_SHARE = 10;

/** Reads one shift for all who ask: again only after it has changed, and not too often. */
export class ShiftReader {
  readonly #root: string;
  readonly #id: ShiftId;
  readonly #compile = compileOnce({});
  readonly #labels = new RowLabels();
  readonly #table = new FollowedTable();
  readonly #history: FollowedHistory;
  #files: ShiftFiles | undefined;
  #last: { readonly version: string; readonly reading: ShiftReading | NightshiftError } | undefined;
  #reading: Promise<ShiftReading> | undefined;
  #notBefore = 0;

  constructor(world: Pick<World, 'env'>, root: string, id: ShiftId) {
    this.#root = root;
    this.#id = id;
    this.#history = new FollowedHistory(world);
  }

  get place(): ShiftPlace {
    return findShiftPlace(this.#root, this.#id);
  }

  /** What was read last, if it could be. */
  get latest(): ShiftReading | undefined {
    const reading = this.#last?.reading;
    return reading instanceof NightshiftError ? undefined : reading;
  }

  /** The version that was read last, with its problem if it had one; empty: none, or not all of it. */
  get readVersion(): string {
    return this.#last?.version ?? '';
  }

  /** The version that the next `read` would find, if it would find another one: a shift is not read too often. */
  get news(): string | undefined {
    if (!this.#mayRead) return undefined;
    const version = this.look();
    return version === this.#last?.version ? undefined : version;
  }

  /** The latest version that may be read; throws if the shift is gone or can't be read. */
  read(): Promise<ShiftReading> {
    this.#reading ??= this.#readIfDue().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The same, when all of its journal was read. */
  async readWhole(): Promise<ShiftReading> {
    for (;;) {
      const reading = await this.read();
      if (!reading.isPartial) return reading;
      await this.#history.whole();
      this.expire();
    }
  }

  /** It was changed here: the next `read` reads it again. */
  expire(): void {
    this.#notBefore = 0;
  }

  get #mayRead(): boolean {
    return performance.now() >= this.#notBefore;
  }

  /** The version of what is on disk. The place is looked up each time: a shift may be archived while it is watched. */
  look(): string {
    try {
      return versionOf(this.place.paths);
    } catch {
      return 'gone';
    }
  }

  async #readIfDue(): Promise<ShiftReading> {
    const { place } = this;
    const last = this.#last;
    if (!last || this.#mayRead) {
      const version = versionOf(place.paths);
      if (last?.version !== version) await this.#readNow(place, version);
    }
    const { reading } = this.#last!;
    if (reading instanceof NightshiftError) throw reading;
    return reading;
  }

  async #readNow(place: ShiftPlace, version: string): Promise<void> {
    const begun = performance.now();
    try {
      const reading = await this.#compose(place, version);
      if (reading.isPartial) void this.#history.whole().then(() => this.expire());
      // One that is partial is read again, whether anything changes or not.
      this.#last = { version: reading.isPartial ? '' : version, reading };
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      this.#last = { version, reading: error };
    }
    this.#notBefore = begun + Math.max(READ_EVERY_MS, READ_SHARE * (performance.now() - begun));
  }

  async #compose(place: ShiftPlace, version: string): Promise<ShiftReading> {
    const { paths } = place;
    if (this.#files?.paths.folder !== paths.folder) this.#files = new ShiftFiles(paths);
    // Before the table: if no run holds the lock, the table that is read next has all its results.
    const holder = currentHolder(paths.runLock);
    const documents = await this.#files.read();
    checkName(paths, documents);
    const { table, snapshot, text } = await this.#table.read(paths, documents);
    const shift = this.#compile(documents, table.header);
    const history = await this.#history.read(paths);
    const { isPartial } = this.#history;
    const held = shift.workspace === undefined ? [] : await listHeldRows(paths, snapshot);
    const grid = new Grid({ table, snapshot, text, history, held, isPartial });
    // Part of the work that is not done too often: what every answer needs.
    if (snapshot.count > 0) void [snapshot.id(0), grid.groups];
    const readVersion = isPartial ? `${version}-partial` : version;
    return {
      place,
      version: readVersion,
      holder,
      shift,
      table,
      snapshot,
      text,
      history,
      grid,
      held,
      isPartial,
      labels: this.#labels,
    };
  }
}

/** Changes with everything that is shown of a shift, except for transcripts and repositories. Reads no content. */
function versionOf(paths: ShiftPaths): string {
  const { folder, table, identity, env, lessons, control, controlState, batch, workspaces } = paths;
  const files = [table, identity, env, lessons, control, controlState, batch, workspaces];
  const names = namesIn(folder).filter((name) => name.endsWith('.md') || name.includes('.put-back-'));
  const documents = names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
  const prints = [...files, ...documents].map(printOf);
  const known = [names, prints, currentHolder(paths.runLock)?.run ?? null, journalEnd(paths.journal) ?? null];
  return hash('sha256', JSON.stringify(known)).slice(0, 16);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (cause) {
    throw readError(cause, folder);
  }
}
