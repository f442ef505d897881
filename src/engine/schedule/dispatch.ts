import type { Outcome, Trouble } from '../../core/model/model.ts';
import { makeOrder, type OrderDetails } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { DevUsage } from '../../core/schedule/qa-retry.ts';
import type { Claim, Snapshot } from '../../store/store.ts';
import type { RunContext } from '../context.ts';
import { leaseTerms, renewLeases } from '../lease-terms.ts';

/** An item-task that was claimed, with what its order needs of the table; the table itself is let go of. */
export interface RunningItem {
  readonly claim: Claim;
  readonly shift: Shift;
  readonly task: Task;
  readonly metadata: Readonly<Record<string, string>>;
  /** What its dev has used up, once it has begun. */
  readonly used?: DevUsage;
  /** Why a qa has sent it back to its dev. */
  readonly verdict?: string;
}

/**
 * How an item ended. `qa`: its dev has succeeded, and it waits for its qa. `again`: its qa has sent it back to its
 * dev. With both it is still running.
 */
export interface ItemEnd {
  readonly item: RunningItem;
  readonly end: 'qa' | 'again' | 'done' | 'failed' | { readonly returned: string; readonly trouble?: Trouble };
  readonly compacted: boolean;
}

/** Items that run beside each other: a batch, or those in the slots of a stream. */
export interface Dispatch extends AsyncDisposable {
  readonly context: RunContext;
  /** The run can't continue (the disk is full, the table is broken): all of them are ended. */
  readonly failure: AbortController;
}

/** Watches the shift's files until it is disposed. */
export function openDispatch(context: RunContext): Dispatch {
  const { documents, store, ports } = context;
  const failure = new AbortController();
  const here = documents.folderId();
  const watch = ports.shiftFiles.open({
    changes: async () => {
      // Nothing could be recorded there any more (rule M6).
      if ((await documents.folderId()) !== (await here)) throw new Error('the folder of the shift is not there');
      await renewLeases({ store, owner: ports.owner, clock: ports.clock });
      return store.changes();
    },
    putBack: () => documents.putBack(),
    isThere: () => context.isShiftThere(),
    onFailure: (error) => failure.abort(error),
  });
  return { context, failure, [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose]() };
}

export interface ClaimRequest {
  readonly shift: Shift;
  readonly task: Task;
  readonly snapshot: Snapshot;
  readonly rows: readonly number[];
}

/** Claims rows of one task, durably, before any agent starts (rule T2). */
export async function claimRows(
  { store, ports }: RunContext,
  { shift, task, snapshot, rows }: ClaimRequest,
): Promise<RunningItem[]> {
  const claims = await store.claim(
    task.name,
    rows.map((row) => snapshot.id(row)),
    leaseTerms(ports),
  );
  return claims.map((claim) => {
    ports.running.begin(claim);
    const metadata = snapshot.metadata(snapshot.rowOf(claim.id) ?? claim.row);
    return { claim, shift, task, metadata };
  });
}

/** From here on the item does not run any more, unless it waits for its qa or goes back to its dev. */
export function ended({ context }: Dispatch, end: ItemEnd): ItemEnd {
  if (end.end !== 'qa' && end.end !== 'again') context.ports.running.end(end.item.claim);
  return end;
}

/** Why nothing more starts, if it is so: the run stops, or a limit on cost or tokens is used up (rule X6). */
export function whyNotStart({ context }: Dispatch): string | undefined {
  return context.control.interrupt.aborted ? 'stopped' : spentUp(context);
}

/** Which limit on cost or tokens is used up. */
export function spentUp({ budget }: RunContext): string | undefined {
  return budget.spentUp.aborted ? String(budget.spentUp.reason) : undefined;
}

/** For an item that was claimed and does not start any more. */
export async function giveBack(dispatch: Dispatch, item: RunningItem, reason: string): Promise<ItemEnd> {
  await dispatch.context.store.release(item.claim.token, reason);
  await dropSession(dispatch, item);
  return ended(dispatch, { item, end: { returned: reason }, compacted: false });
}

/** Its dev is not asked any more. */
export async function dropSession({ context }: Dispatch, { claim, shift }: RunningItem): Promise<void> {
  await context.dropSession(claim.token, shift.secrets);
}

export interface WorkEnd {
  readonly outcome: Outcome;
  /** Why, if the item was withdrawn meanwhile. */
  readonly withdrawn: string | undefined;
  /** The run stops or pauses at once. */
  readonly isInterrupted: boolean;
}

/** Has a worker carry out one order of an item. */
export async function carryOut(
  { context, failure }: Dispatch,
  { claim, shift, task, metadata }: RunningItem,
  details: Pick<OrderDetails, 'role' | 'lastFailure' | 'checksPassed' | 'retry'>,
): Promise<WorkEnd> {
  const { returns, control, documents, ports } = context;
  const { interrupt } = control;
  const item = { id: claim.id, index: claim.row, metadata };
  const chance = { isLastChance: returns.isLastChance(claim) };
  const order = makeOrder(shift, task, { ...details, ...chance, item, token: claim.token });
  const withdrawal = ports.shiftFiles.enter(claim.token, order.key);
  await using _protected = documents.protect({ task: task.name, index: claim.row });
  try {
    const doneBefore = returns.done;
    const signal = AbortSignal.any([interrupt, failure.signal, withdrawal]);
    const outcome = await context.work(order, shift.secrets, signal);
    if (outcome.trouble?.isRequested) returns.givenBack(claim, doneBefore);
    const withdrawn = withdrawal.aborted ? (withdrawal.reason as Error).message : undefined;
    return { outcome, withdrawn, isInterrupted: interrupt.aborted };
  } finally {
    ports.shiftFiles.leave(claim.token);
  }
}

/** What is given back because the run fails or ends is not the item's trouble. */
export function troubleIn({ context, failure }: Dispatch, { outcome, isInterrupted }: WorkEnd): { trouble?: Trouble } {
  // Between two attempts, a dev notices the first Ctrl-C too.
  const isDrained = outcome.trouble === undefined && context.control.drain.aborted;
  if (isInterrupted || failure.signal.aborted || isDrained || outcome.trouble?.isLimit) return {};
  return { trouble: outcome.trouble ?? { reason: outcome.reason ?? 'given back' } };
}
