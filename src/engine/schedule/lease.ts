import type { Outcome, Trouble } from '../../core/model/model.ts';
import { askedCriteria, makeOrder, type OrderDetails } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { type DevUsage, mayGoBack, verdictText } from '../../core/schedule/qa-retry.ts';
import type { Claim, Snapshot } from '../../store/store.ts';
import { Watch } from '../../watch/watch.ts';
import { leaseTerms, renewLeases } from '../lease-terms.ts';
import type { BatchEnd, RunParts } from '../ports.ts';
import { workingFolder } from '../worker/work.ts';

/** An item-task that was claimed, with what its order needs of the table; the table itself is let go of. */
export interface Flight {
  readonly claim: Claim;
  readonly shift: Shift;
  readonly task: Task;
  readonly metadata: Readonly<Record<string, string>>;
  /** What its dev has used up, once it has begun. */
  readonly used?: DevUsage;
  /** Why a qa has sent it back to its dev. */
  readonly verdict?: string;
}

/** What everybody in flight shares. */
export interface Airspace {
  readonly parts: RunParts;
  readonly watch: Watch;
  /** The run can't go on (the disk is full, the table is broken): everybody in flight is ended. */
  readonly failure: AbortController;
}

/** How a flight ended. `qa`: its dev has succeeded, and it waits to be judged. `again`: its qa has sent it back to its dev. */
export interface FlightEnd {
  readonly flight: Flight;
  readonly end: 'qa' | 'again' | 'done' | 'failed' | { readonly returned: string; readonly trouble?: Trouble };
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
    leaseTerms(parts),
  );
  return claims.map((claim) => {
    const metadata = snapshot.metadata(snapshot.rowOf(claim.id) ?? claim.row);
    return { claim, shift, task, metadata };
  });
}

/** Watches the shift's files while somebody is in flight. */
export function openAirspace(parts: RunParts): Airspace {
  const failure = new AbortController();
  const here = parts.documents.folderId();
  const watch = new Watch({
    changes: async () => {
      // Nothing could be recorded there any more (rule M6).
      if ((await parts.documents.folderId()) !== (await here)) throw new Error('the folder of the shift is not there');
      await renewLeases(parts);
      return parts.store.changes();
    },
    putBack: () => parts.documents.putBack(),
    onFailure: (error) => failure.abort(error),
    clock: parts.clock,
  });
  return { parts, watch, failure };
}

/** To the verdict, from its dev, or from its qa where it waited for that; back to the dev as often as a qa sends it there. */
export async function flyThrough(airspace: Airspace, flight: Flight): Promise<FlightEnd> {
  const isWaiting = flight.claim.status === 'qa';
  let last = await (isWaiting ? flyQa(airspace, flight, false) : flyBoth(airspace, flight));
  let { compacted } = last;
  while (last.end === 'again') {
    const over = whyOver(airspace);
    last = await (over === undefined ? flyBoth(airspace, last.flight) : giveBack(airspace, last.flight, over));
    compacted ||= last.compacted;
  }
  return { ...last, compacted };
}

/** From the dev to the verdict. Where no agent is asked for it, it is known with the dev's end, and both share a write. */
async function flyBoth(airspace: Airspace, flight: Flight): Promise<FlightEnd> {
  const { hasPassed, landing } = await workAsDev(airspace, flight);
  const isKnown = hasPassed && askedCriteria(flight.task).length === 0;
  const both = [landing, isKnown ? flyQa(airspace, flight, true) : undefined] as const;
  // Also when one throws: nothing may run on unwatched.
  await Promise.allSettled(both);
  const [dev, known] = await Promise.all(both);
  if (dev.end !== 'qa') return dev;
  const qa = known ?? (await flyQa(airspace, dev.flight, true));
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
  // Of an earlier claim; what the qa of this one found is told as such.
  const last = flight.verdict === undefined ? parts.history.of(task.name, claim.id)?.failure : undefined;
  const { outcome, withdrawn, isInterrupted } = await carryOut(airspace, flight, {
    role: 'dev',
    lastFailure: last,
    ...(flight.used && flight.verdict !== undefined ? { retry: { ...flight.used, verdict: flight.verdict } } : {}),
  });
  const used = { attempts: outcome.attempts, ms: outcome.ms ?? 0, qaRetries: flight.used?.qaRetries ?? 0 };
  const end = (end: FlightEnd['end']): FlightEnd => ({
    flight: { ...flight, used },
    end,
    compacted: outcome.compacted,
  });
  const { to } = outcome;
  if ((withdrawn === undefined && to !== undefined) || hasSpent(outcome)) await keepSaid(parts, claim, outcome);
  const land = async (): Promise<FlightEnd> => {
    if (withdrawn !== undefined) return end({ returned: withdrawn });
    if (to === undefined) {
      const reason = outcome.reason ?? 'given back';
      await parts.store.release(claim.token, reason);
      return end({ returned: reason, ...(isInterrupted ? {} : troubleIn(airspace, outcome, reason)) });
    }
    const recorded = await parts.store.record(claim.token, 'in_progress', to, outcome.outputs, outcome.reason);
    if (!recorded.ok) return end({ returned: recorded.why });
    if (to === 'qa') return end('qa');
    parts.returns.ended(claim, 'failed');
    return end('failed');
  };
  const landAndLetGo = async (): Promise<FlightEnd> => {
    const landed = await land();
    // It was withdrawn just then: nobody will judge it.
    if (landed.end !== 'qa') await letGo(airspace, flight);
    return landed;
  };
  return { hasPassed: withdrawn === undefined && to === 'qa', landing: landAndLetGo() };
}

/**
 * What the table does not hold is durable before the status is: a crash in between only means doing the item again.
 * Of an item that passed and has nothing to tell, what happened may follow.
 */
async function keepSaid(parts: RunParts, { token }: Claim, outcome: Outcome): Promise<void> {
  const { reason, recommendations, captured, outputs } = outcome;
  const hasSaid = reason !== undefined || recommendations.length > 0 || hasSpent(outcome);
  const isInTable = Object.keys(captured).every((name) => Object.hasOwn(outputs, name));
  try {
    if (hasSaid || !isInTable) await parts.flush();
    else parts.checkKept();
  } catch (error) {
    await parts.store.release(token, 'what happened could not be recorded').catch(() => {});
    throw error;
  }
}

function hasSpent({ usage }: Outcome): boolean {
  return Object.keys(usage).length > 0;
}

/** The qa's part. `fresh`: right after its dev, whose passing checks need not be run again. */
export async function flyQa(airspace: Airspace, flight: Flight, fresh: boolean): Promise<FlightEnd> {
  const over = askedCriteria(flight.task).length > 0 ? airspace.parts.spentUp?.() : undefined;
  if (over !== undefined) return giveBack(airspace, flight, over);
  const end = await judge(airspace, flight, fresh);
  if (end.end !== 'again') await letGo(airspace, flight);
  return end;
}

/** Its dev is not asked any more. */
async function letGo({ parts }: Airspace, { claim, shift }: Flight): Promise<void> {
  await parts.agents(shift).kept?.drop(claim.token);
}

async function judge(airspace: Airspace, flight: Flight, fresh: boolean): Promise<FlightEnd> {
  const { parts } = airspace;
  const { token } = flight.claim;
  const { outcome, withdrawn, isInterrupted } = await carryOut(airspace, flight, { role: 'qa', checksPassed: fresh });
  const end = (end: FlightEnd['end']): FlightEnd => ({ flight, end, compacted: outcome.compacted });
  const isJudged = withdrawn === undefined && (outcome.to === 'done' || outcome.to === 'failed');
  if (isJudged || hasSpent(outcome)) await keepSaid(parts, flight.claim, outcome);
  if (withdrawn !== undefined) return end({ returned: withdrawn });
  if (outcome.to === undefined || outcome.to === 'qa') {
    const reason = outcome.reason ?? 'qa gave no verdict';
    await parts.store.release(token, reason);
    return end({ returned: reason, ...(isInterrupted ? {} : troubleIn(airspace, outcome, reason)) });
  }
  const back = outcome.to === 'failed' && outcome.isVerdict ? sentBack(parts, flight, outcome) : undefined;
  const recorded = await parts.store.record(token, 'qa', back ? 'in_progress' : outcome.to, {}, outcome.reason);
  if (!recorded.ok) return end({ returned: recorded.why });
  if (back) return { ...end('again'), flight: back };
  parts.returns.ended(flight.claim, outcome.to);
  return end(outcome.to);
}

/** Rule Q3: the flight as it goes on, if what its qa has failed goes back to its dev. */
function sentBack(parts: RunParts, flight: Flight, { verdicts, reason }: Outcome): Flight | undefined {
  const used = flight.used ?? usedBefore(parts, flight);
  if (!mayGoBack(flight.task.settings, used)) return undefined;
  return { ...flight, used: { ...used, qaRetries: used.qaRetries + 1 }, verdict: verdictText(verdicts, reason) };
}

/** By an earlier run, of an item that waited for its qa since then. */
function usedBefore({ history }: RunParts, { claim, task }: Flight): DevUsage {
  const { dev, qaRetries = 0 } = history.of(task.name, claim.id) ?? {};
  return { attempts: dev?.attempts ?? 1, ms: dev?.ms ?? 0, qaRetries };
}

/** Why nobody begins any more, if it is so: the run stops, or a limit on cost or tokens is used up (rule X6). */
export function whyOver({ parts }: Airspace): string | undefined {
  return parts.stop.interrupt.aborted ? 'stopped' : parts.spentUp?.();
}

/** What was claimed and does not begin any more. */
export async function giveBack(airspace: Airspace, flight: Flight, reason: string): Promise<FlightEnd> {
  await airspace.parts.store.release(flight.claim.token, reason);
  await letGo(airspace, flight);
  return { flight, end: { returned: reason }, compacted: false };
}

async function carryOut(
  { parts, watch, failure }: Airspace,
  { claim, shift, task, metadata }: Flight,
  details: Pick<OrderDetails, 'role' | 'lastFailure' | 'checksPassed' | 'retry'>,
): Promise<{ outcome: Outcome; withdrawn: string | undefined; isInterrupted: boolean }> {
  const { interrupt } = parts.stop;
  const item = { id: claim.id, index: claim.row, metadata };
  const chance = { isLastChance: parts.returns.isLastChance(claim) };
  const order = makeOrder(shift, task, { ...details, ...chance, item, token: claim.token });
  const withdrawal = watch.enter(claim.token, order.key);
  await using _protected = parts.documents.protect({ task: task.name, index: claim.row });
  try {
    const doneBefore = parts.returns.done;
    const agents = parts.agents(shift);
    const folder = workingFolder(order, agents);
    await parts.protection.hold({ folder, globs: order.settings.protect });
    using _held = parts.protection.enter({ token: claim.token, key: order.key, task: task.name, index: claim.row });
    using _dev = order.role === 'dev' ? parts.folders.enter(folder) : undefined;
    const outcome = await parts.perform(
      order,
      agents,
      {
        run: async (request) => {
          // A check may write as a dev may.
          using _check = parts.folders.enter(request.folder);
          return parts.check(request);
        },
        trespass: async (calls) => {
          const own = await watch.trespassOf(claim.token, calls);
          return own ?? (await parts.protection.trespassOf(claim.token, calls));
        },
        observe: (run) => parts.protection.observe(run),
        watch: (request) => parts.folders.watch(request),
        pause: (milliseconds, signal) => parts.clock.sleep(milliseconds, AbortSignal.any([signal, parts.stop.drain])),
        spentUp: () => parts.spentUp?.(),
        clock: parts.clock,
        random: parts.random,
      },
      parts.emit,
      AbortSignal.any([interrupt, failure.signal, withdrawal]),
    );
    if (outcome.trouble?.isRequested) parts.returns.givenBack(claim, doneBefore);
    const withdrawn = withdrawal.aborted ? (withdrawal.reason as Error).message : undefined;
    return { outcome, withdrawn, isInterrupted: interrupt.aborted };
  } finally {
    watch.leave(claim.token);
  }
}

/** What is given back because the run fails or ends is not the trouble of the item. */
function troubleIn({ parts, failure }: Airspace, outcome: Outcome, reason: string): { trouble?: Trouble } {
  // Between two attempts, the first Ctrl-C is heard as well.
  const isPauseOver = outcome.trouble === undefined && parts.stop.drain.aborted;
  const isStopped = failure.signal.aborted || isPauseOver || outcome.trouble?.isLimit;
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
