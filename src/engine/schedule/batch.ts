import { askedCriteria } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { Snapshot } from '../../store/store.ts';
import { type BatchEnd, NOTHING, type RunParts } from '../ports.ts';
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
  whyOver,
} from './lease.ts';

/** Rule P6: all devs at once, wait for all, then qa on those that succeeded; what qa sends back, once more from there. */
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
  await using _protected = parts.documents.protect();
  const airspace = openAirspace(parts);
  await using _watch = airspace.watch;
  return countRounds(await flyRounds(airspace, task, flights));
}

/** What qa sends back to its dev begins another round, after the last qa of this one. */
async function flyRounds(airspace: Airspace, task: Task, first: readonly Flight[]): Promise<FlightEnd[]> {
  const ends: FlightEnd[] = [];
  for (let flights = first; flights.length > 0; ) {
    const over = whyOver(airspace);
    const devs = await settle(airspace, flights, (flight) =>
      over === undefined ? flyDev(airspace, flight) : giveBack(airspace, flight, over),
    );
    const judged = await judgeAll(airspace, task, flightsAt(devs, 'qa'), true);
    ends.push(...devs, ...judged);
    flights = flightsAt(judged, 'again');
  }
  return ends;
}

function flightsAt(ends: readonly FlightEnd[], at: 'qa' | 'again'): Flight[] {
  return ends.filter(({ end }) => end === at).map(({ flight }) => flight);
}

/** Only how each ended in the end counts (rule P2); that a session lost context counts whenever it was. */
function countRounds(ends: readonly FlightEnd[]): BatchEnd {
  const counted = countEnds(ends.filter(({ end }) => end !== 'qa' && end !== 'again'));
  return { ...counted, compacted: ends.some(({ compacted }) => compacted) };
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
  await using _protected = parts.documents.protect();
  const airspace = openAirspace(parts);
  await using _watch = airspace.watch;
  const judged = await judgeAll(airspace, task, flights, false);
  return countRounds([...judged, ...(await flyRounds(airspace, task, flightsAt(judged, 'again')))]);
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
    const isOver = stop.interrupt.aborted || (!fresh && stop.isHalted);
    if (isOver) ends.push(await giveBack(airspace, flight, 'stopped'));
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
