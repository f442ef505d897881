import type { Outcome, Trouble } from '../core/model.ts';
import { askedCriteria, makeOrder, type OrderDetails } from '../core/order.ts';
import type { Shift, Task } from '../core/shift.ts';
import type { Claim, Snapshot } from '../store/store.ts';
import { Watch } from '../watch/watch.ts';
import type { BatchEnd, RunParts } from './run-state.ts';
import { workingFolder } from './work.ts';

/** An item-task that was claimed, with what its order needs of the table; the table itself is let go of. */
export interface Flight {
  readonly claim: Claim;
  readonly shift: Shift;
  readonly task: Task;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What everybody in flight shares. */
export interface Airspace {
  readonly parts: RunParts;
  readonly watch: Watch;
  /** The run can't go on (the disk is full, the table is broken): everybody in flight is ended. */
  readonly failure: AbortController;
}

/** How a flight ended. `qa`: its dev has succeeded, and it waits to be judged. */
export interface FlightEnd {
  readonly flight: Flight;
  readonly end: 'qa' | 'done' | 'failed' | { readonly returned: string; readonly trouble?: Trouble };
  readonly compacted: boolean;
}

/** Claims rows of one task, durably, before any agent starts (rule T2). */
export async function claimRows(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
): Promise<Flight[]> {
  const claims = await parts.store.claim(
    task.name,
    rows.map((row) => snapshot.id(row)),
  );
  return claims.map((claim) => {
    const metadata = snapshot.metadata(snapshot.rowOf(claim.id) ?? claim.row);
    return { claim, shift, task, metadata };
  });
}

/** Watches the table and the files of these tasks while somebody is in flight. */
export function openAirspace(parts: RunParts, tasks: () => Iterable<Task>): Airspace {
  const failure = new AbortController();
  const watch = new Watch({
    changes: () => parts.store.changes(),
    putBack: async () => {
      const put: { task: Task; kept: string }[] = [];
      for (const task of tasks()) {
        const kept = await parts.documents.putBack(task.name, task.text);
        if (kept !== undefined) put.push({ task, kept });
      }
      for (const { task, kept } of put) {
        const what = 'Configuration or Validation of a task in flight';
        parts.emit({ type: 'edit:reverted', task: task.name, file: task.file, what, kept });
      }
      return put.map(({ task }) => {
        const file = `${task.name}.md`;
        return { what: `Configuration or Validation of ${file}`, file };
      });
    },
    onFailure: (error) => failure.abort(error),
  });
  return { parts, watch, failure };
}

/** From the dev to the verdict. Where no agent is asked for it, it is known with the dev's end, and both share a write. */
export async function flyThrough(airspace: Airspace, flight: Flight): Promise<FlightEnd> {
  const { hasPassed, landing } = await workAsDev(airspace, flight);
  const isKnown = hasPassed && askedCriteria(flight.task).length === 0;
  const both = [landing, isKnown ? flyQa(airspace, flight, true) : undefined] as const;
  // Also when one throws: nothing may run on unwatched.
  await Promise.allSettled(both);
  const [dev, known] = await Promise.all(both);
  if (dev.end !== 'qa') return dev;
  const qa = known ?? (await flyQa(airspace, flight, true));
  return { ...qa, compacted: qa.compacted || dev.compacted };
}

/** The dev's part: done, recorded as `qa` or `failed` as soon as it is finished, or given back. */
export async function flyDev(airspace: Airspace, flight: Flight): Promise<FlightEnd> {
  return (await workAsDev(airspace, flight)).landing;
}

/** Resolves when the dev has ended; `landing`, when that is in the table. */
async function workAsDev(
  airspace: Airspace,
  flight: Flight,
): Promise<{ hasPassed: boolean; landing: Promise<FlightEnd> }> {
  const { parts } = airspace;
  const { claim, task } = flight;
  const last = parts.history.of(task.name, claim.id)?.failure;
  const { outcome, withdrawn } = await carryOut(airspace, flight, { role: 'dev', lastFailure: last });
  const end = (end: FlightEnd['end']): FlightEnd => ({ flight, end, compacted: outcome.compacted });
  const { to } = outcome;
  if (withdrawn === undefined && to !== undefined) await keepSaid(parts, outcome);
  const land = async (): Promise<FlightEnd> => {
    if (withdrawn !== undefined) return end({ returned: withdrawn });
    if (to === undefined) {
      const reason = outcome.reason ?? 'given back';
      await parts.store.release(claim.token, reason);
      return end({ returned: reason, ...troubleIn(airspace, outcome, reason) });
    }
    const recorded = await parts.store.record(claim.token, 'in_progress', to, outcome.outputs, outcome.reason);
    if (!recorded.ok) return end({ returned: recorded.why });
    return end(to === 'qa' ? 'qa' : 'failed');
  };
  return { hasPassed: withdrawn === undefined && to === 'qa', landing: land() };
}

/**
 * What the table does not hold is durable before the status is: a crash in between only means doing the item again.
 * Of an item that passed and has nothing to tell, what happened may follow.
 */
async function keepSaid(
  parts: RunParts,
  { reason, recommendations, usage, captured, outputs }: Outcome,
): Promise<void> {
  const hasSaid = reason !== undefined || recommendations.length > 0 || Object.keys(usage).length > 0;
  const isInTable = Object.keys(captured).every((name) => Object.hasOwn(outputs, name));
  if (hasSaid || !isInTable) await parts.flush();
  else parts.checkKept();
}

/** The qa's part. `fresh`: right after its dev, whose passing checks need not be run again. */
export async function flyQa(airspace: Airspace, flight: Flight, fresh: boolean): Promise<FlightEnd> {
  const { parts } = airspace;
  const { token } = flight.claim;
  const { outcome, withdrawn } = await carryOut(airspace, flight, { role: 'qa', checksPassed: fresh });
  const end = (end: FlightEnd['end']): FlightEnd => ({ flight, end, compacted: outcome.compacted });
  if (withdrawn !== undefined) return end({ returned: withdrawn });
  if (outcome.to === undefined || outcome.to === 'qa') {
    const reason = outcome.reason ?? 'qa gave no verdict';
    await parts.store.release(token, reason);
    return end({ returned: reason, ...troubleIn(airspace, outcome, reason) });
  }
  await keepSaid(parts, outcome);
  const recorded = await parts.store.record(token, 'qa', outcome.to, {}, outcome.reason);
  if (!recorded.ok) return end({ returned: recorded.why });
  return end(outcome.to);
}

/** What was claimed and need not begin any more. */
export async function giveBack({ parts }: Airspace, flight: Flight): Promise<FlightEnd> {
  await parts.store.release(flight.claim.token, 'stopped');
  return { flight, end: { returned: 'stopped' }, compacted: false };
}

async function carryOut(
  { parts, watch, failure }: Airspace,
  { claim, shift, task, metadata }: Flight,
  details: Pick<OrderDetails, 'role' | 'lastFailure' | 'checksPassed'>,
): Promise<{ outcome: Outcome; withdrawn: string | undefined }> {
  const withdrawal = watch.enter(claim.token);
  try {
    const item = { id: claim.id, index: claim.row, metadata };
    const order = makeOrder(shift, task, { ...details, item, token: claim.token, now: parts.now() });
    const agents = parts.agents(shift);
    using _dev = order.role === 'dev' ? parts.folders.enter(workingFolder(order, agents)) : undefined;
    const outcome = await parts.perform(
      order,
      agents,
      {
        run: async (request) => {
          // A check may write as a dev may.
          using _check = parts.folders.enter(request.folder);
          return parts.check(request);
        },
        trespass: (calls) => watch.trespassOf(claim.token, calls),
        watch: (request) => parts.folders.watch(request),
      },
      parts.emit,
      AbortSignal.any([parts.stop.now, failure.signal, withdrawal]),
    );
    const withdrawn = withdrawal.aborted ? (withdrawal.reason as Error).message : undefined;
    return { outcome, withdrawn };
  } finally {
    watch.leave(claim.token);
  }
}

/** A run that stops gives back what is in flight; that is nobody's trouble. */
function troubleIn({ parts, failure }: Airspace, outcome: Outcome, reason: string): { trouble?: Trouble } {
  const isStopped = parts.stop.now.aborted || failure.signal.aborted;
  return isStopped ? {} : { trouble: outcome.trouble ?? { reason } };
}

export function countEnds(ends: readonly FlightEnd[]): BatchEnd {
  const returned = ends.flatMap(({ end }) => (typeof end === 'object' ? [end] : []));
  const troubles = returned.flatMap((each) => each.trouble ?? []);
  // What only a person can end counts before what passes.
  const trouble = troubles.find(({ remedy }) => remedy !== undefined) ?? troubles[0];
  return {
    done: ends.filter(({ end }) => end === 'done').length,
    failed: ends.filter(({ end }) => end === 'failed').length,
    returned: returned.length,
    compacted: ends.some((each) => each.compacted),
    ...(trouble === undefined ? {} : { trouble }),
  };
}
