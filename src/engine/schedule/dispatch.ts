import type { Order, Outcome, Trouble } from '../../core/model/model.ts';
import { makeOrder, type OrderDetails } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { DevUsage } from '../../core/schedule/qa-retry.ts';
import type { Claim, Snapshot } from '../../store/store.ts';
import type { RunContext } from '../context.ts';
import { leaseTerms, renewLeases } from '../lease-terms.ts';

/** A claimed item-task, with what its order needs from the table, so that the table itself can be released. */
export interface RunningItem {
  readonly claim: Claim;
  readonly shift: Shift;
  readonly task: Task;
  readonly metadata: Readonly<Record<string, string>>;
  /** Its row's name, if it has one. */
  readonly label: string | undefined;
  /** What its dev has used up, once it has started. */
  readonly used?: DevUsage;
  /** Why a qa sent it back to its dev. */
  readonly verdict?: string;
}

/**
 * How an item ended. `qa`: its dev has succeeded, and it waits for its qa. `again`: its qa sent it back to its dev.
 * In both cases it is still running. `left`: a worker goes on with it after the run (`OrderLeft`).
 */
export interface ItemEnd {
  readonly item: RunningItem;
  readonly end: 'qa' | 'again' | 'left' | 'done' | 'failed' | { readonly returned: string; readonly trouble?: Trouble };
  readonly compacted: boolean;
  /** It failed because it ran out of time. */
  readonly isTimeout?: boolean;
}

/** Items that run at the same time: a batch, or the slots of a stream. */
export interface Dispatch extends AsyncDisposable {
  readonly context: RunContext;
  /** The run can't continue (full disk, broken table): all items are ended. */
  readonly failure: AbortController;
}

/** Watches the shift's files until it is disposed. */
export function openDispatch(context: RunContext): Dispatch {
  const { documents, store, ports } = context;
  const failure = new AbortController();
  const here = documents.folderId();
  const watch = ports.shiftFiles.open({
    changes: async () => {
      // Nothing can be recorded there any more (rule M6).
      if ((await documents.folderId()) !== (await here)) throw new Error('the folder of the shift is not there');
      await renewLeases({ store, owner: ports.owner, clock: ports.clock });
      return store.changes();
    },
    putBack: async () => {
      const edits = await documents.putBack();
      await context.followLimits();
      return edits;
    },
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
  { store, ports, labels }: RunContext,
  { shift, task, snapshot, rows }: ClaimRequest,
): Promise<RunningItem[]> {
  const claims = await store.claim(
    task.name,
    rows.map((row) => snapshot.id(row)),
    leaseTerms(ports),
  );
  return claims.map((claim) => {
    const row = snapshot.rowOf(claim.id) ?? claim.row;
    const label = labels.of(shift, snapshot, row);
    ports.running.begin({ ...claim, label });
    return { claim, shift, task, metadata: snapshot.metadata(row), label };
  });
}

/** The item is no longer running, unless it waits for its qa or goes back to its dev. */
export function ended({ context }: Dispatch, end: ItemEnd): ItemEnd {
  if (end.end !== 'qa' && end.end !== 'again') context.ports.running.end(end.item.claim);
  return end;
}

/** Why nothing new starts, if so: the run stops, or a limit on cost or tokens is used up (rule X6). */
export function whyNotStart({ context }: Dispatch): string | undefined {
  return context.control.isEnding ? 'stopped' : spentUp(context);
}

/** Which limit on cost or tokens is used up. */
export function spentUp({ budget }: RunContext): string | undefined {
  return budget.spentUp.aborted ? String(budget.spentUp.reason) : undefined;
}

/** For a claimed item that does not start. */
export async function giveBack(dispatch: Dispatch, item: RunningItem, reason: string): Promise<ItemEnd> {
  await dispatch.context.store.release(item.claim.token, reason);
  await dropSession(dispatch, item);
  return ended(dispatch, { item, end: { returned: reason }, compacted: false });
}

/** Its dev gets no more prompts. */
export async function dropSession({ context }: Dispatch, { claim, shift }: RunningItem): Promise<void> {
  await context.work.drop(claim.token, shift.secrets);
}

export interface WorkEnd {
  readonly outcome: Outcome;
  /** The reason, if the item was withdrawn. */
  readonly withdrawn: string | undefined;
  /** The run stops at once, or pauses with `--now`. */
  readonly isInterrupted: boolean;
}

/** Has a worker carry out one order of an item. */
export async function carryOut(
  dispatch: Dispatch,
  running: RunningItem,
  details: Pick<OrderDetails, 'role' | 'lastFailure' | 'checksPassed' | 'retry'>,
): Promise<WorkEnd> {
  const { claim, shift } = running;
  const { returns } = dispatch.context;
  const order = orderOf(running, { ...details, isLastChance: returns.isLastChance(claim) });
  const doneBefore = returns.done;
  const { result: outcome, ...end } = await whileClaimed(dispatch, running, order.key, (signal) =>
    dispatch.context.work.carryOut(order, shift.secrets, signal),
  );
  if (outcome.trouble?.isRequested) returns.givenBack(claim, doneBefore);
  return { outcome, ...end };
}

/** The order for an item; `task`: another task of its row. */
export function orderOf(
  { claim, shift, task: own, metadata, label }: RunningItem,
  details: Omit<OrderDetails, 'item' | 'token'>,
  task = own,
): Order {
  const item = { id: claim.id, index: claim.row, metadata, ...(label === undefined ? {} : { label }) };
  return makeOrder(shift, task, { ...details, item, token: claim.token });
}

/** Lets a worker work on an item until it is withdrawn, or the run stops or fails. */
export async function whileClaimed<T>(
  { context, failure }: Dispatch,
  { claim, task }: RunningItem,
  key: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly result: T } & Pick<WorkEnd, 'withdrawn' | 'isInterrupted'>> {
  const { control, documents, ports } = context;
  const { interrupt } = control;
  const withdrawal = ports.shiftFiles.enter(claim.token, key);
  await using _protected = documents.protect({ task: task.name, index: claim.row });
  try {
    const result = await work(AbortSignal.any([interrupt, failure.signal, withdrawal]));
    const withdrawn = withdrawal.aborted ? (withdrawal.reason as Error).message : undefined;
    return { result, withdrawn, isInterrupted: interrupt.aborted };
  } finally {
    ports.shiftFiles.leave(claim.token);
  }
}

/** An item that is given back because the run fails or ends is not in trouble itself. */
export function troubleIn({ context, failure }: Dispatch, { outcome, isInterrupted }: WorkEnd): { trouble?: Trouble } {
  // Between two attempts, a dev also notices the first Ctrl-C.
  const isDrained = outcome.trouble === undefined && context.control.drain.aborted;
  const isEnding = isInterrupted || context.control.left.aborted;
  if (isEnding || failure.signal.aborted || isDrained || outcome.trouble?.isLimit) return {};
  return { trouble: outcome.trouble ?? { reason: outcome.reason ?? 'given back' } };
}
