import { hash } from 'node:crypto';
import { slugOf } from './branch-name.ts';

/**
 * Where the workspace of a row begins on a worker. An order carries it from the coordinator; the worker has neither
 * the repository of the project nor the record of the row.
 */
export interface CarriedWorkspace {
  /** The address of the git repository that all machines reach, without a login: `repo`, or the remote of a worktree. */
  readonly relay: string;
  /** `working-dir`, relative to the top of the repository. */
  readonly below: string;
  readonly branch: string;
  /** The commit that the row began with; absent: the repository has none. */
  readonly base?: string;
  /** Where the relay has `base`; absent: in a branch or tag. */
  readonly baseRef?: string;
  /** What `setup` left when the row began, if that differs from `base`. */
  readonly prepared?: string;
  /** The results of its tasks, in their order. For a qa, the one that it judges is the last. */
  readonly results: readonly CarriedTask[];
  /** Where the relay has the last result; absent: there is none. */
  readonly resultRef?: string;
  /** For a dev: where its own result goes. Each order has its own, so that a late one disturbs no other. */
  readonly sendTo?: string;
  /** For a qa: the result has passed, and its delivery has begun. It is not judged again. */
  readonly isJudged?: true;
}

interface CarriedTask {
  readonly task: string;
  readonly commit: string;
}

/** The result of a dev on a worker: the relay has it before the outcome is reported. */
export interface CarriedResult {
  readonly commit: string;
  /** What `setup` left, if this is the first task of the row and it differs from the base. An ancestor of `commit`. */
  readonly prepared?: string;
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const RELAY_REF = /^refs\/nightshift\/[a-z0-9-]+\/[a-z0-9-]+\/[a-z0-9-]+$/;

/** A full id, and nothing that git could take for a name or an option. */
function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value);
}

/** A ref that some shift has made on a relay. */
function isRelayRef(value: unknown): value is string {
  return typeof value === 'string' && RELAY_REF.test(value);
}

/**
 * The refs of a shift on its relays: `refs/nightshift/<shift>-<key>`. Shifts of the same name in two projects may have
 * the same relay. `key`: the identity of the shift.
 */
export function relayPrefix(shift: string, key: string): string {
  return `refs/nightshift/${partOf(shift)}-${hash('sha256', key).slice(0, 8)}`;
}

/** Where the relay gets the result of a dev; `order`: different for each order. */
export function resultRefOf(prefix: string, { task, item }: { task: string; item: string }, order: string): string {
  return `${prefix}/${partOf(task)}/${partOf(item)}-${partOf(order).slice(0, 12)}`;
}

/** Where the relay gets a base that it has in no branch. */
export function baseRefOf(prefix: string, commit: string): string {
  return `${prefix}/base/${commit}`;
}

/** For the name of a ref. A hash tells names apart that are alike without their other characters. */
function partOf(name: string): string {
  const part = slugOf(name, 0);
  return part === name ? part : `${part}-${hash('sha256', name).slice(0, 6)}`;
}

/** Undefined if it has another form: it comes from another machine. */
export function readCarried(value: unknown): CarriedWorkspace | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const carried = value as Partial<Record<keyof CarriedWorkspace, unknown>>;
  const { relay, below, branch, base, baseRef, prepared, results, resultRef, sendTo, isJudged } = carried;
  const isWhole =
    [relay, below, branch].every((each) => typeof each === 'string' && !/[\0\n\r]/.test(each)) &&
    [base, prepared].every((each) => each === undefined || isCommit(each)) &&
    [baseRef, resultRef, sendTo].every((each) => each === undefined || isRelayRef(each)) &&
    Array.isArray(results) &&
    results.every(isCarriedTask) &&
    (results.length === 0) === (resultRef === undefined) &&
    (isJudged === undefined || isJudged === true);
  return isWhole ? (value as CarriedWorkspace) : undefined;
}

function isCarriedTask(value: unknown): value is CarriedTask {
  if (typeof value !== 'object' || value === null) return false;
  const { task, commit } = value as Partial<Record<keyof CarriedTask, unknown>>;
  return typeof task === 'string' && isCommit(commit);
}

/** Undefined if it has another form: workers are not trusted with what git is asked here. */
export function readCarriedResult(value: unknown): CarriedResult | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { commit, prepared } = value as Partial<Record<keyof CarriedResult, unknown>>;
  if (!isCommit(commit) || !(prepared === undefined || isCommit(prepared))) return undefined;
  return { commit, ...(prepared === undefined ? {} : { prepared }) };
}
