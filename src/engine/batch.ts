import type { Outcome } from '../core/model.ts';
import { makeOrder, type OrderDetails } from '../core/order.ts';
import type { Shift, Task } from '../core/shift.ts';
import type { Claim, Snapshot } from '../store/store.ts';
import { Watch } from '../watch/watch.ts';
import { perform } from './item.ts';
import { type BatchEnd, NOTHING, type RunParts } from './run-state.ts';

/** What all items of one batch share. */
interface BatchContext {
  readonly parts: RunParts;
  readonly shift: Shift;
  readonly task: Task;
  readonly snapshot: Snapshot;
  readonly watch: Watch;
  /** The batch can't go on (the disk is full, the table is broken): everybody in flight is ended. */
  readonly failure: AbortController;
}

type Judged = 'done' | 'failed' | { readonly returned: string; readonly trouble: boolean };

interface ItemEnd {
  readonly claim: Claim;
  readonly end: Judged | 'qa';
  readonly compacted: boolean;
}

/** Rule P6: all devs at once, wait for all, then qa on those that succeeded. */
export async function runBatch(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
  size: number,
): Promise<BatchEnd> {
  await parts.documents.keepVersion(task.name, task.text);
  const claims = await parts.store.claim(
    task.name,
    rows.map((row) => snapshot.id(row)),
  );
  if (claims.length === 0) return NOTHING;
  parts.emit({ type: 'batch:claimed', task: task.name, indices: claims.map(({ row }) => row), size });
  return inContext(parts, shift, task, snapshot, async (context) => {
    const ends = await settle(claims, context, (claim) => doItem(context, claim));
    const passed = ends.filter((each) => each.end === 'qa');
    const judged = await judgeAll(
      context,
      passed.map(({ claim }) => claim),
      true,
    );
    return countEnds([...ends.filter((each) => each.end !== 'qa'), ...judged]);
  });
}

/** Rule T5: what is at `qa` was finished by its dev; it is judged and not done again. */
export async function judgeWaiting(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  rows: readonly number[],
): Promise<BatchEnd> {
  const claims = await parts.store.claim(
    task.name,
    rows.map((row) => snapshot.id(row)),
  );
  return inContext(parts, shift, task, snapshot, async (context) => {
    return countEnds(await judgeAll(context, claims, false));
  });
}

async function inContext(
  parts: RunParts,
  shift: Shift,
  task: Task,
  snapshot: Snapshot,
  work: (context: BatchContext) => Promise<BatchEnd>,
): Promise<BatchEnd> {
  const failure = new AbortController();
  await using watch = new Watch({
    changes: () => parts.store.changes(),
    putBack: () => parts.documents.putBack(task.name, task.text),
    onPutBack: (kept) => {
      const what = 'Configuration or Validation of a task in flight';
      parts.emit({ type: 'edit:reverted', task: task.name, file: task.file, what, kept });
    },
    onFailure: (error) => failure.abort(error),
  });
  // Awaited here: the watch ends when this block does.
  return await work({ parts, shift, task, snapshot, watch, failure });
}

/** Waits for all, also when one throws: nothing may run on unwatched. Then the first error is everybody's. */
async function settle(
  claims: readonly Claim[],
  { failure }: BatchContext,
  work: (claim: Claim) => Promise<ItemEnd>,
): Promise<ItemEnd[]> {
  const ends = await Promise.all(
    claims.map((claim) =>
      work(claim).catch((error: unknown) => {
        failure.abort(error);
        return undefined;
      }),
    ),
  );
  failure.signal.throwIfAborted();
  return ends.filter((end) => end !== undefined);
}

async function doItem(context: BatchContext, claim: Claim): Promise<ItemEnd> {
  const { parts, task } = context;
  const last = parts.history.of(task.name, claim.id)?.failure;
  const { outcome, withdrawn } = await carryOut(context, claim, { role: 'dev', lastFailure: last });
  const end = (end: ItemEnd['end']): ItemEnd => ({ claim, end, compacted: outcome.compacted });
  if (withdrawn !== undefined) return end({ returned: withdrawn, trouble: false });
  if (outcome.to === undefined) {
    const reason = outcome.reason ?? 'given back';
    await parts.store.release(claim.token, reason);
    return end({ returned: reason, trouble: !isStopped(context) });
  }
  // Reason and recommendations are durable before the status is: a crash in between only means doing the item again.
  await parts.flush();
  const recorded = await parts.store.record(claim.token, 'in_progress', outcome.to, outcome.outputs, outcome.reason);
  if (!recorded.ok) return end({ returned: recorded.why, trouble: false });
  return end(outcome.to === 'qa' ? 'qa' : 'failed');
}

/** One after the other (rule P6); but where no agent is asked, the passing checks are the verdict of all at once. */
async function judgeAll(context: BatchContext, claims: readonly Claim[], fresh: boolean): Promise<ItemEnd[]> {
  const { task, parts } = context;
  const asksAgent = task.settings.qa === 'always' || task.criteria.some((criterion) => !criterion.check);
  if (!asksAgent && fresh) return settle(claims, context, (claim) => judgeItem(context, claim, fresh));
  const ends: ItemEnd[] = [];
  for (const claim of claims) {
    if (parts.stop.now.aborted || (!fresh && parts.stop.drain.aborted)) {
      await parts.store.release(claim.token, 'stopped');
      ends.push({ claim, end: { returned: 'stopped', trouble: false }, compacted: false });
    } else {
      ends.push(...(await settle([claim], context, (each) => judgeItem(context, each, fresh))));
    }
  }
  return ends;
}

async function judgeItem(context: BatchContext, claim: Claim, fresh: boolean): Promise<ItemEnd> {
  const { parts } = context;
  const { outcome, withdrawn } = await carryOut(context, claim, { role: 'qa', checksPassed: fresh });
  const end = (end: ItemEnd['end']): ItemEnd => ({ claim, end, compacted: outcome.compacted });
  if (withdrawn !== undefined) return end({ returned: withdrawn, trouble: false });
  if (outcome.to === undefined || outcome.to === 'qa') {
    const reason = outcome.reason ?? 'qa gave no verdict';
    await parts.store.release(claim.token, reason);
    return end({ returned: reason, trouble: !isStopped(context) });
  }
  await parts.flush();
  const recorded = await parts.store.record(claim.token, 'qa', outcome.to, {}, outcome.reason);
  if (!recorded.ok) return end({ returned: recorded.why, trouble: false });
  return end(outcome.to);
}

async function carryOut(
  { parts, shift, task, snapshot, watch, failure }: BatchContext,
  claim: Claim,
  details: Pick<OrderDetails, 'role' | 'lastFailure' | 'checksPassed'>,
): Promise<{ outcome: Outcome; withdrawn: string | undefined }> {
  const withdrawal = watch.enter(claim.token);
  try {
    const metadata = snapshot.metadata(snapshot.rowOf(claim.id) ?? claim.row);
    const item = { id: claim.id, index: claim.row, metadata };
    const order = makeOrder(shift, task, { ...details, item, token: claim.token, now: parts.now() });
    const outcome = await perform(
      order,
      parts.agents(shift),
      { run: parts.check, trespass: () => watch.trespassOf(claim.token) },
      parts.emit,
      AbortSignal.any([parts.stop.now, failure.signal, withdrawal]),
    );
    const withdrawn = withdrawal.aborted ? (withdrawal.reason as Error).message : undefined;
    return { outcome, withdrawn };
  } finally {
    watch.leave(claim.token);
  }
}

function isStopped({ parts, failure }: BatchContext): boolean {
  return parts.stop.now.aborted || failure.signal.aborted;
}

function countEnds(ends: readonly ItemEnd[]): BatchEnd {
  const returned = ends.flatMap(({ end }) => (typeof end === 'object' ? [end] : []));
  const trouble = returned.find((each) => each.trouble)?.returned;
  return {
    done: ends.filter(({ end }) => end === 'done').length,
    failed: ends.filter(({ end }) => end === 'failed').length,
    returned: returned.length,
    compacted: ends.some((each) => each.compacted),
    ...(trouble === undefined ? {} : { trouble }),
  };
}
