import { askedCriteria } from '../core/order.ts';
import type { Shift, Task } from '../core/shift.ts';
import type { Snapshot } from '../store/store.ts';
import {
  type Airspace,
  claimRows,
  countEnds,
  type Flight,
  type FlightEnd,
  flyDev,
  flyQa,
  giveBack,
  openAirspace,
} from './flight.ts';
import { type BatchEnd, NOTHING, type RunParts } from './run-state.ts';

/** Rule P6: all devs at once, wait for all, then qa on those that succeeded. */
export async function runBatch(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
  size: number,
): Promise<BatchEnd> {
  const flights = await claimBatch(parts, shift, task, snapshot, rows, size);
  if (flights.length === 0) return NOTHING;
  const airspace = openAirspace(parts, () => [task]);
  await using _watch = airspace.watch;
  const ends = await settle(airspace, flights, (flight) => flyDev(airspace, flight));
  const passed = ends.filter((each) => each.end === 'qa');
  const judged = await judgeAll(
    airspace,
    task,
    passed.map(({ flight }) => flight),
    true,
  );
  const counted = countEnds([...ends.filter((each) => each.end !== 'qa'), ...judged]);
  return { ...counted, compacted: counted.compacted || passed.some((each) => each.compacted) };
}

/** Durably in the table before any agent starts (rule T2), and the Steps that they are given are kept (rule L4). */
export async function claimBatch(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
  size: number,
): Promise<Flight[]> {
  await parts.documents.keepVersion(task.name, task.text);
  await forgetEarlier(parts);
  const flights = await claimRows(parts, shift, task, snapshot, rows);
  if (flights.length === 0) return [];
  parts.emit({ type: 'batch:claimed', task: task.name, indices: flights.map(({ claim }) => claim.row), size });
  return flights;
}

/** Rule T5: what is at `qa` was finished by its dev; it is judged and not done again. */
export async function judgeWaiting(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
): Promise<BatchEnd> {
  await forgetEarlier(parts);
  const flights = await claimRows(parts, shift, task, snapshot, rows);
  const airspace = openAirspace(parts, () => [task]);
  await using _watch = airspace.watch;
  return countEnds(await judgeAll(airspace, task, flights, false));
}

/** What was put back while nobody was in flight is nobody's of this batch (rule D5). */
async function forgetEarlier(parts: RunParts): Promise<void> {
  await parts.store.changes();
}

/**
 * One after the other (rule P6), unless `qa: parallel` says otherwise. Where no agent is asked, the passing checks are
 * the verdict of all at once.
 */
async function judgeAll(
  airspace: Airspace,
  task: Task,
  flights: readonly Flight[],
  fresh: boolean,
): Promise<FlightEnd[]> {
  const { stop } = airspace.parts;
  const asksAgent = askedCriteria(task).length > 0;
  if (task.settings.qaParallel || (!asksAgent && fresh)) {
    return settle(airspace, flights, (flight) => flyQa(airspace, flight, fresh));
  }
  const ends: FlightEnd[] = [];
  for (const flight of flights) {
    const isOver = stop.now.aborted || (!fresh && stop.drain.aborted);
    if (isOver) ends.push(await giveBack(airspace, flight));
    else ends.push(...(await settle(airspace, [flight], (each) => flyQa(airspace, each, fresh))));
  }
  return ends;
}

/** Waits for all, also when one throws: nothing may run on unwatched. Then the first error is everybody's. */
async function settle(
  { failure }: Airspace,
  flights: readonly Flight[],
  work: (flight: Flight) => Promise<FlightEnd>,
): Promise<FlightEnd[]> {
  const ends = await Promise.all(
    flights.map((flight) =>
      work(flight).catch((error: unknown) => {
        failure.abort(error);
        return undefined;
      }),
    ),
  );
  failure.signal.throwIfAborted();
  return ends.filter((end) => end !== undefined);
}
