import { existsSync } from 'node:fs';
import { keyIn, NO_VALUES, whyUndeliverable, withKey } from '../../core/workspace/delivery.ts';
import type { Deliveries, DeliveryFailure, DeliveryRequest, DeliveryResult } from '../../core/workspace/workspaces.ts';
import { unlessGone } from '../failure.ts';
import type { DeliveryRecord, WorkspaceRecord } from '../records.ts';
import { DeskGit } from './desk-git.ts';
import { deliveryFailureOf, failed } from './failure.ts';
import type { DeliveryParts, Outgoing } from './outgoing.ts';
import { type RowResult, readResult } from './row-result.ts';
import { send } from './send.ts';

/** A row that changed nothing is done: it has no branch and no pull request. */
const UNCHANGED = 'nothing was changed, so nothing was delivered';

/**
 * Delivers results from the desks of their workspaces. What is about to happen is recorded first; after a crash, what
 * is there already is found and not done again.
 */
export class LocalDeliveries implements Deliveries {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryResult> {
    let record: WorkspaceRecord | undefined;
    let result: DeliveryResult;
    try {
      record = await this.#parts.records.read(request.id);
      result = await this.#deliverIfPossible(record, request);
    } catch (error) {
      result = deliveryFailureOf(error, request.signal);
    }
    // Git and other programs that are ended fail.
    if (result.kind !== 'delivered' && request.signal.aborted) return { kind: 'aborted' };
    return record === undefined ? result : unlessGone(record, result);
  }

  async #deliverIfPossible(record: WorkspaceRecord | undefined, request: DeliveryRequest): Promise<DeliveryResult> {
    if (record === undefined) return failed('workspace', 'its workspace is not known any more');
    if (request.kind === 'none') return { kind: 'delivered', values: NO_VALUES };
    const why = whyUndeliverable(record.kind, request.kind);
    return why === undefined ? this.#deliver(record, request) : failed('settings', why);
  }

  async #deliver(record: WorkspaceRecord, request: DeliveryRequest): Promise<DeliveryResult> {
    const { git, openDesk, failpoint } = this.#parts;
    const { signal } = request;
    const opened = await openDesk(record, signal);
    const desk = new DeskGit(git, opened, signal);
    const result = existsSync(record.folder) ? (opened.result ?? (await readResult(opened.desk, record))) : undefined;
    if (typeof result === 'string') return refusal(result);
    const committed = await this.#commit({ git: desk, record, request }, result);
    if (committed.kind === 'unchanged') return { kind: 'delivered', values: NO_VALUES, note: UNCHANGED };
    if (committed.kind !== 'committed') return committed;
    failpoint('delivery:committed');
    const delivery = this.#recordOf(record, request, committed.commit);
    await this.#write(record, delivery);
    failpoint('delivery:intended');
    const { source } = opened;
    return this.#send({ source, result, desk, record, request, delivery });
  }

  async #send(outgoing: Outgoing): Promise<DeliveryResult> {
    const { record, request } = outgoing;
    const write = (delivery: DeliveryRecord) => this.#write(record, delivery);
    const sent = await send(this.#parts, outgoing, write);
    if (sent.kind === 'failed' && !request.signal.aborted)
      await write({ ...outgoing.delivery, state: 'failed', reason: sent.reason });
    if (sent.kind !== 'sent') return sent;
    await write({ ...sent.delivery, state: request.isHeld ? 'held' : 'done' });
    this.#parts.failpoint('delivery:recorded');
    return { kind: 'delivered', values: sent.values, ...(sent.note === undefined ? {} : { note: sent.note }) };
  }

  async #write(record: WorkspaceRecord, delivery: DeliveryRecord): Promise<void> {
    await this.#parts.records.write({ ...record, delivery: { ...delivery, at: this.#parts.now() } });
  }

  #recordOf({ delivery: last }: WorkspaceRecord, request: DeliveryRequest, commit: string): DeliveryRecord {
    const { kind, key, isHeld, into, author, message, title, body } = request;
    const earlier = last === undefined ? [] : [...new Set([...(last.earlier ?? []), last.commit])];
    return {
      kind,
      key,
      commit,
      state: isHeld ? 'held' : 'intended',
      at: this.#parts.now(),
      ...(earlier.length === 0 ? {} : { earlier }),
      ...(last?.merges === undefined ? {} : { merges: last.merges }),
      ...(last?.url === undefined ? {} : { url: last.url }),
      text: {
        message,
        title,
        body,
        ...(into === undefined ? {} : { into }),
        ...(author === undefined ? {} : { author }),
      },
    };
  }

  /** One commit with the result of the row, or the one that an earlier delivery made of the same result. */
  async #commit({ git, record, request }: Committing, result: RowResult | undefined): Promise<CommitResult> {
    const { base, delivery: last, folder, branch } = record;
    const { message, author, key } = request;
    if (result === undefined || request.approved !== undefined) {
      const commit = request.approved ?? last?.commit;
      const isThere = commit !== undefined && (await git.has(commit));
      return isThere ? { kind: 'committed', commit } : failed('workspace', `its workspace ${folder} is gone`);
    }
    const { files, change } = result;
    // The files are left alone if the commit is there.
    const commits = [last?.commit, await tipOf(git, branch)].filter((each) => each !== undefined);
    for (const commit of commits) {
      if (await isSame(git, commit, { tree: change, base, key })) return { kind: 'committed', commit };
    }
    await git.settle(files, base);
    const made = await git.files.commit(base, { tree: change, message: withKey(message, key), author });
    return made.kind === 'refused' ? refusal(made.reason) : made;
  }
}

interface Committing {
  readonly git: DeskGit;
  readonly record: WorkspaceRecord;
  readonly request: DeliveryRequest;
}

type CommitResult =
  | { readonly kind: 'committed'; readonly commit: string }
  | { readonly kind: 'unchanged' }
  | DeliveryFailure;

const FULL = /No space left on device|Disk quota exceeded/;

/** By a hook, or by git, which does not know the person. */
function refusal(said: string): DeliveryFailure {
  if (FULL.test(said)) return { kind: 'trouble', trouble: { reason: `the commit can't be written: ${said}` } };
  if (!/tell me who you are|unable to auto-detect email/.test(said))
    return failed('commit', `the commit was refused: ${said}`);
  const remedy = 'run git config --global user.name and user.email';
  return { kind: 'trouble', trouble: { reason: "git doesn't know who commits", remedy } };
}

/** What the desk committed last: a crash may have come before it was recorded. */
async function tipOf(git: DeskGit, branch: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
  return (await git.try(`git can't find ${branch}`, args))?.trim();
}

interface Wanted {
  readonly tree: string;
  readonly base: string | undefined;
  readonly key: string;
}

async function isSame(git: DeskGit, commit: string, { tree, base, key }: Wanted): Promise<boolean> {
  if (!(await git.has(commit)) || (await git.files.treeOf(commit)) !== tree) return false;
  return (await git.parents(commit))[0] === base && keyIn(await git.message(commit)) === key;
}
