import { isTimeout } from '../../core/model/failure-point.ts';
import type { Outcome } from '../../core/model/model.ts';
import { askedCriteria } from '../../core/model/order.ts';
import { type DevUsage, mayGoBack, verdictText } from '../../core/schedule/qa-retry.ts';
import type { RunContext } from '../context.ts';
import { deliverRow, isDelivered, type RowDelivered } from './delivery.ts';
import {
  carryOut,
  type Dispatch,
  dropSession,
  ended,
  giveBack,
  type ItemEnd,
  type RunningItem,
  spentUp,
  troubleIn,
  type WorkEnd,
  whyNotStart,
} from './dispatch.ts';

/**
 * Runs an item up to its verdict, starting with its dev or, if it waits for that, its qa. A qa may send it back to
 * its dev.
 */
export async function runItem(dispatch: Dispatch, item: RunningItem): Promise<ItemEnd> {
  const isWaiting = item.claim.status === 'qa';
  let last = await (isWaiting ? runQa(dispatch, item, false) : runDevAndQa(dispatch, item));
  let { compacted } = last;
  while (last.end === 'again') {
    const over = whyNotStart(dispatch);
    last = await (over === undefined ? runDevAndQa(dispatch, last.item) : giveBack(dispatch, last.item, over));
    compacted ||= last.compacted;
  }
  return { ...last, compacted };
}

/**
 * If no agent judges, the verdict is known when the dev ends, and both are recorded in one write. A delivery waits until
 * the item is at `qa`: before, a person may withdraw it, and after a crash its dev would work again.
 */
async function runDevAndQa(dispatch: Dispatch, item: RunningItem): Promise<ItemEnd> {
  const { hasPassed, after, recording } = await workAsDev(dispatch, item);
  const isKnown = hasPassed && askedCriteria(item.task).length === 0 && !isDelivered(item);
  const both = [recording, isKnown ? runQa(dispatch, after, true) : undefined] as const;
  // Even if one throws, so that nothing runs unwatched.
  await Promise.allSettled(both);
  const [dev, known] = await Promise.all(both);
  if (dev.end !== 'qa') return dev;
  const qa = known ?? (await runQa(dispatch, dev.item, true));
  return { ...qa, compacted: qa.compacted || dev.compacted };
}

/** The dev's part: recorded as `qa` or `failed` as soon as it has finished, or given back. */
export async function runDev(dispatch: Dispatch, item: RunningItem): Promise<ItemEnd> {
  return (await workAsDev(dispatch, item)).recording;
}

/** Resolves when the dev has ended; `recording` resolves when that is in the table. `after`: the item for its qa. */
async function workAsDev(
  dispatch: Dispatch,
  item: RunningItem,
): Promise<{ hasPassed: boolean; after: RunningItem; recording: Promise<ItemEnd> }> {
  const { claim, task, used, verdict } = item;
  // From an earlier claim; the verdict of this claim's qa is passed separately.
  const last = verdict === undefined ? dispatch.context.history.of(task.name, claim.id)?.failure : undefined;
  const worked = await carryOut(dispatch, item, {
    role: 'dev',
    lastFailure: last,
    ...(used && verdict !== undefined ? { retry: { ...used, verdict } } : {}),
  });
  const { outcome, withdrawn } = worked;
  const isKnown = withdrawn === undefined && outcome.to !== undefined;
  if (isKnown || hasSpent(outcome)) await keepEvents(dispatch.context, item, outcome);
  const nowUsed = { attempts: outcome.attempts, ms: outcome.ms ?? 0, qaRetries: used?.qaRetries ?? 0 };
  const after = { ...item, metadata: { ...item.metadata, ...outcome.outputs }, used: nowUsed };
  const recordAndDrop = async (): Promise<ItemEnd> => {
    const end = await recordDev(dispatch, item, worked);
    // It was withdrawn in this moment: it gets no qa.
    if (end !== 'qa') await dropSession(dispatch, item);
    const { compacted, failurePoint } = outcome;
    return ended(dispatch, { item: after, end, compacted, isTimeout: isTimeout(failurePoint) });
  };
  return { hasPassed: withdrawn === undefined && outcome.to === 'qa', after, recording: recordAndDrop() };
}

async function recordDev(dispatch: Dispatch, { claim }: RunningItem, worked: WorkEnd): Promise<ItemEnd['end']> {
  const { store, returns } = dispatch.context;
  const { outcome, withdrawn } = worked;
  const { to, reason } = outcome;
  if (withdrawn !== undefined) return { returned: withdrawn };
  if (to === undefined) {
    const returned = reason ?? 'given back';
    await store.release(claim.token, returned);
    return { returned, ...troubleIn(dispatch, worked) };
  }
  const recorded = await store.record(claim.token, 'in_progress', to, outcome.outputs, reason);
  if (!recorded.ok) return { returned: recorded.why };
  if (to === 'qa') return 'qa';
  returns.ended(claim, 'failed');
  return 'failed';
}

/**
 * Events are durable before the status is: after a crash in between, the item is just done again. Events of an item
 * that passed and has nothing to add may follow later.
 */
async function keepEvents({ ports, store }: RunContext, { claim }: RunningItem, outcome: Outcome): Promise<void> {
  const { reason, recommendations, captured, outputs } = outcome;
  const hasWords = reason !== undefined || recommendations.length > 0 || hasSpent(outcome);
  const isInTable = Object.keys(captured).every((name) => Object.hasOwn(outputs, name));
  try {
    if (hasWords || !isInTable) await ports.events.flush();
    else ports.events.checkKept();
  } catch (error) {
    await store.release(claim.token, 'what happened could not be recorded').catch(() => {});
    throw error;
  }
}

function hasSpent({ usage }: Outcome): boolean {
  return Object.keys(usage).length > 0;
}

/** The qa's part. `isFresh`: right after its dev, whose passing checks need not run again. */
export async function runQa(dispatch: Dispatch, item: RunningItem, isFresh: boolean): Promise<ItemEnd> {
  const over = askedCriteria(item.task).length > 0 ? spentUp(dispatch.context) : undefined;
  if (over !== undefined) return giveBack(dispatch, item, over);
  const end = await judge(dispatch, item, isFresh);
  if (end.end !== 'again') await dropSession(dispatch, item);
  return ended(dispatch, end);
}

async function judge(dispatch: Dispatch, item: RunningItem, isFresh: boolean): Promise<ItemEnd> {
  const { context } = dispatch;
  const { token } = item.claim;
  const worked = await carryOut(dispatch, item, { role: 'qa', checksPassed: isFresh });
  const { outcome, withdrawn } = worked;
  const { to, compacted, failurePoint } = outcome;
  const isJudged = withdrawn === undefined && (to === 'done' || to === 'failed');
  if (isJudged || hasSpent(outcome)) await keepEvents(context, item, outcome);
  if (withdrawn !== undefined) return { item, end: { returned: withdrawn }, compacted };
  if (to === undefined || to === 'qa') {
    const returned = outcome.reason ?? 'qa gave no verdict';
    await context.store.release(token, returned);
    return { item, end: { returned, ...troubleIn(dispatch, worked) }, compacted };
  }
  if (to === 'done') {
    const delivered = await deliverRow(dispatch, item);
    if (delivered) return { ...(await recordDelivery(dispatch, item, delivered)), compacted };
  }
  const back = to === 'failed' && outcome.isVerdict ? sentBack(context, item, outcome) : undefined;
  const recorded = await context.store.record(token, 'qa', back ? 'in_progress' : to, {}, outcome.reason);
  if (!recorded.ok) return { item, end: { returned: recorded.why }, compacted };
  if (back) return { item: back, end: 'again', compacted };
  context.returns.ended(item.claim, to);
  return { item, end: to, compacted, isTimeout: isTimeout(failurePoint) };
}

/** A row that has passed is `done` once it is delivered; if that fails, it is `failed`, and its work is kept. */
async function recordDelivery(
  dispatch: Dispatch,
  item: RunningItem,
  { result, outputs, withdrawn, isInterrupted }: RowDelivered,
): Promise<Pick<ItemEnd, 'item' | 'end'>> {
  const { store, ports, returns } = dispatch.context;
  const { token } = item.claim;
  if (withdrawn !== undefined) return { item, end: { returned: withdrawn } };
  if (result.kind === 'aborted' || result.kind === 'trouble') {
    const returned = result.kind === 'aborted' ? 'stopped' : `it could not be delivered: ${result.trouble.reason}`;
    await store.release(token, returned);
    const isOwn = result.kind === 'trouble' && !isInterrupted && !dispatch.failure.signal.aborted;
    return { item, end: { returned, ...(isOwn && { trouble: { ...result.trouble, reason: returned } }) } };
  }
  await ports.events.flush();
  const to = result.kind === 'delivered' ? 'done' : 'failed';
  const reason = result.kind === 'failed' ? result.reason : undefined;
  const recorded = await store.record(token, 'qa', to, outputs, reason);
  if (!recorded.ok) return { item, end: { returned: recorded.why } };
  returns.ended(item.claim, to);
  return { item, end: to };
}

/** Rule Q3: the item as it continues if it goes back to its dev. */
function sentBack(context: RunContext, item: RunningItem, { verdicts, reason }: Outcome): RunningItem | undefined {
  const used = item.used ?? usedBefore(context, item);
  if (!mayGoBack(item.task.settings, used)) return undefined;
  return { ...item, used: { ...used, qaRetries: used.qaRetries + 1 }, verdict: verdictText(verdicts, reason) };
}

/** From an earlier run, for an item that has been at `qa` since then. */
function usedBefore({ history }: RunContext, { claim, task }: RunningItem): DevUsage {
  const { dev, qaRetries = 0 } = history.of(task.name, claim.id) ?? {};
  return { attempts: dev?.attempts ?? 1, ms: dev?.ms ?? 0, qaRetries };
}
