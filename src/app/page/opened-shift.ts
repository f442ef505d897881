import { NightshiftError } from '../../core/model/errors.ts';
import type { ShiftId } from '../../core/page/answers.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { findRowIndex } from '../rows.ts';
import type { World } from '../world.ts';
import { FollowedCharts } from './followed-charts.ts';
import { LiveRun, type RunState } from './live-run.ts';
import type { ItemName } from './page.ts';
import { ShiftReader, type ShiftReading } from './shift-reader.ts';
import { within } from './within.ts';

/** How long an answer waits for what a run tells. It matters only for a journal of many megabytes. */
const WAIT_FOR_RUN_MS = 250;

/** A shift that the page looks at: what was read of it, and what was made of that. */
export class OpenedShift {
  readonly id: ShiftId;
  readonly reader: ShiftReader;
  readonly #world: World;
  readonly #closed: AbortSignal;
  #warm: { readonly reading: ShiftReading; readonly stop: AbortController } | undefined;
  #live: LiveRun | undefined;
  #charts: { readonly journal: string; readonly followed: FollowedCharts } | undefined;

  constructor(world: World, root: string, id: ShiftId, closed: AbortSignal) {
    this.id = id;
    this.#world = world;
    this.#closed = closed;
    this.reader = new ShiftReader(world, root, id);
  }

  /**
   * The latest version that may be read. If nothing runs, what searches and sorts need is made in the background; a run
   * has more use for the machine, and its table changes all the time.
   */
  async read(): Promise<ShiftReading> {
    const reading = await this.reader.read();
    if (!reading.holder && this.#warm?.reading !== reading) {
      this.#warm?.stop.abort();
      this.#warm = { reading, stop: new AbortController() };
      void reading.grid.warm(AbortSignal.any([this.#warm.stop.signal, this.#closed]));
    }
    return reading;
  }

  /** What is going on in the run, as far as it is known by now; undefined: nothing runs. */
  async runState(): Promise<RunState | undefined> {
    const { paths } = this.reader.place;
    const run = currentHolder(paths.runLock)?.run;
    if (run === undefined || run === '') return undefined;
    if (this.#live?.run !== run) this.#live = new LiveRun(paths, run);
    const live = this.#live;
    await within(live.update(), WAIT_FOR_RUN_MS);
    const { latest } = this.reader;
    const rowOf = (item: string, index: number) => (latest && rowOfItem(latest, item, index)) ?? index;
    return live.describe(this.#world.now(), rowOf);
  }

  charts(): ReturnType<FollowedCharts['read']> {
    const { journal } = this.reader.place.paths;
    if (this.#charts?.journal !== journal) this.#charts = { journal, followed: new FollowedCharts(journal) };
    return this.#charts.followed.read(this.#closed);
  }
}

/** The index of a row, or an error that says what is there. */
export function requireRow(reading: ShiftReading, name: ItemName): number {
  if ('row' in name) return findRowIndex(reading, name.row);
  const row = rowOfItem(reading, name.item);
  if (row !== undefined) return row;
  throw new NightshiftError(
    'not-found',
    `there is no item ${JSON.stringify(name.item)}`,
    'was its row edited or removed?',
  );
}

/** `hint`: where it probably is. To find it elsewhere takes the identities of all rows. */
function rowOfItem({ snapshot }: ShiftReading, item: string, hint = -1): number | undefined {
  const known = snapshot.rowOf(item);
  if (known !== undefined) return known;
  if (hint >= 0 && hint < snapshot.count && snapshot.id(hint) === item) return hint;
  for (let row = 0; row < snapshot.count; row++) if (snapshot.id(row) === item) return row;
  return undefined;
}
