/** What is known about a workspace when someone looks. */
export interface WorkspaceFacts {
  /** An item of its row runs now. */
  readonly isWorking: boolean;
  readonly hasFolder: boolean;
  /** `setup` has ended, so agents may have worked in it. */
  readonly isReady: boolean;
  /** It may be half removed. */
  readonly isRemoving?: boolean;
  /** `unfinished`: tasks of the row are left. `gone`: the table has no such row any more. `test`: of `test-task`. */
  readonly row: 'unfinished' | 'failed' | 'done' | 'gone' | 'test';
  /** It holds something that its base does not; undefined: it can't be read. */
  readonly isChanged: boolean | undefined;
  /** What an earlier try left is kept apart. */
  readonly hasEarlier?: boolean;
  readonly delivery?: DeliveryFacts;
}

export interface DeliveryFacts {
  /** `intended`: it may have happened. `held`: it waits for approval. */
  readonly state: 'intended' | 'done' | 'held' | 'failed';
  /** Why it failed. */
  readonly reason?: string;
  /** What the workspace holds now is what was delivered. */
  readonly isCurrent: boolean;
  /** It was delivered to the workspace itself: the branch of a clone. */
  readonly isOnlyHere?: boolean;
}

export const WORKSPACE_STATES = ['preparing', 'working', 'kept', 'delivered', 'held', 'gone'] as const;
export type WorkspaceState = (typeof WORKSPACE_STATES)[number];

/** `held`: for approval. `gone`: its folder was removed by hand. */
export interface Standing {
  readonly state: WorkspaceState;
  /** Why it is kept, or what is odd about it. */
  readonly why?: string;
}

const REMOVING = 'its removal was interrupted';
const ONLY_HERE = 'its branch is only here';

export function standingOf(facts: WorkspaceFacts): Standing {
  const { isWorking, hasFolder, isReady, isRemoving, delivery } = facts;
  if (isWorking) return { state: isReady ? 'working' : 'preparing' };
  if (isRemoving) return { state: 'gone', why: REMOVING };
  if (delivery?.state === 'done' && !hasFolder) return { state: 'delivered', why: 'its folder is removed' };
  // Its commit is in the desk, so it can still be delivered.
  if (delivery?.state === 'held' && !hasFolder) return { state: 'held', why: 'its folder is removed' };
  if (!hasFolder) return { state: 'gone', why: isReady ? 'removed by hand' : 'it was never finished' };
  if (!isReady) return { state: 'preparing', why: 'the run ended before it was ready' };
  if (delivery?.state === 'done' && delivery.isCurrent) {
    return { state: 'delivered', ...(delivery.isOnlyHere && { why: ONLY_HERE }) };
  }
  if (delivery?.state === 'held') return { state: 'held' };
  return { state: 'kept', why: whyKept(facts) };
}

const LEFT_BY_TEST = 'left by `test-task`';

function whyKept({ row, isChanged, delivery }: WorkspaceFacts): string {
  if (isChanged === undefined) return "what it holds can't be read";
  if (delivery?.state === 'done') return 'changed since it was delivered';
  if (delivery?.state === 'intended') return 'its delivery was interrupted; the next start finishes it';
  if (delivery?.state === 'failed') return `its delivery failed${delivery.reason ? `: ${delivery.reason}` : ''}`;
  if (row === 'gone') return 'its row is gone';
  if (row === 'test') return LEFT_BY_TEST;
  if (row === 'failed') return 'its row failed';
  if (row === 'unfinished') return 'its row is not finished';
  return isChanged ? 'not delivered' : 'nothing has changed';
}

/** Whether a workspace can be removed, and why or why not. */
export interface Removal {
  readonly isSafe: boolean;
  readonly why: string;
}

/** Whether a branch holds a change already. `unknown`: a remote could not be asked, and why. */
export type Arrival =
  | { readonly kind: 'arrived'; readonly branch: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** `arrival`: undefined: no branch that is known has its change. */
export function removalOf(facts: WorkspaceFacts, arrival: Arrival | undefined): Removal {
  const { isWorking, isReady, hasFolder, isChanged, hasEarlier, delivery } = facts;
  const keep = (why: string) => ({ isSafe: false, why });
  const remove = (why: string) => ({ isSafe: true, why });
  if (isWorking) return keep('an agent works in it');
  if (facts.isRemoving) return remove(REMOVING);
  if (facts.row === 'test') return remove(LEFT_BY_TEST);
  if (!isReady) return remove('no agent has worked in it');
  if (isChanged === undefined) return keep("what it holds can't be read");
  if (delivery?.state === 'intended') return keep('its delivery was interrupted; the next start finishes it');
  if (delivery?.state === 'done' && delivery.isCurrent && !delivery.isOnlyHere) return remove('delivered');
  if (!isChanged && hasEarlier) return keep('nothing has changed, but it keeps what an earlier try left');
  if (!isChanged) return remove('nothing has changed');
  if (arrival?.kind === 'arrived') return remove(`its change is in ${arrival.branch}`);
  if (delivery?.state === 'held') return keep('it waits for approval');
  if (delivery?.state === 'done' && delivery.isCurrent) return keep(ONLY_HERE);
  const what = delivery?.state === 'done' ? 'it was changed after it was delivered' : 'its change is not delivered';
  const unknown = arrival === undefined ? '' : `; ${arrival.why}`;
  return keep(`${hasFolder ? what : `${what}, and its folder is gone`}${unknown}`);
}
