import { existsSync } from 'node:fs';
import { keyIn, NO_VALUES, whyUndeliverable, withKey } from '../../core/workspace/delivery.ts';
import type { Deliveries, DeliveryFailure, DeliveryRequest, DeliveryResult } from '../../core/workspace/workspaces.ts';
import type { DeliveryRecord, WorkspaceRecord } from '../records.ts';
import { DeskGit } from './desk-git.ts';
import { deliveryFailureOf, failed } from './failure.ts';
import type { DeliveryParts, OpenDesk, Outgoing } from './outgoing.ts';
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
    try {
      const record = await this.#parts.records.read(request.id);
      if (record === undefined) return failed('workspace', 'its workspace is not known any more');
      if (request.kind === 'none') return { kind: 'delivered', values: NO_VALUES };
      const why = whyUndeliverable(record.kind, request.kind);
      return why === undefined ? await this.#deliver(record, request) : failed('settings', why);
    } catch (error) {
      return deliveryFailureOf(error, request.signal);
    }
  }

  async #deliver(record: WorkspaceRecord, request: DeliveryRequest): Promise<DeliveryResult> {
    const { git, openDesk, failpoint } = this.#parts;
    const { signal } = request;
    const opened = await openDesk(record, signal);
    const desk = new DeskGit(git, opened, signal);
    const { base } = record;
    const committed = await this.#commit({ ...opened, git: desk, record, request, base });
    if (committed.kind === 'unchanged') return { kind: 'delivered', values: NO_VALUES, note: UNCHANGED };
    if (committed.kind !== 'committed') return committed;
    failpoint('delivery:committed');
    const delivery = this.#recordOf(record, request, committed.commit);
    await this.#write(record, delivery);
    failpoint('delivery:intended');
    return this.#send({ ...opened, desk, record, request, delivery });
  }

  async #send(outgoing: Outgoing): Promise<DeliveryResult> {
    const { record, request } = outgoing;
    const write = (delivery: DeliveryRecord) => this.#write(record, delivery);
    const sent = await send(this.#parts, outgoing, write);
    if (sent.kind === 'failed') await write({ ...outgoing.delivery, state: 'failed', reason: sent.reason });
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
  async #commit({ desk, git, result, record, request, base }: Committing): Promise<CommitResult> {
    const last = record.delivery;
    if (!existsSync(record.folder)) {
      const isThere = last !== undefined && (await git.has(last.commit));
      return isThere
        ? { kind: 'committed', commit: last.commit }
        : failed('workspace', `its workspace ${record.folder} is gone`);
    }
    // The files are left alone if the commit is there.
    const commits = [last?.commit, await tipOf(git, record.branch)].filter((each) => each !== undefined);
    const tree = result ?? (await desk.tree(base));
    for (const commit of commits) {
      if (await isSame(git, commit, { tree, base, key: request.key })) return { kind: 'committed', commit };
    }
    await git.settle(tree, base);
    const { message, author, key } = request;
    const made = await desk.commit(base, { message: withKey(message, key), author });
    return made.kind === 'refused' ? refusal(made.reason) : made;
  }
}

interface Committing extends OpenDesk {
  readonly git: DeskGit;
  readonly record: WorkspaceRecord;
  readonly request: DeliveryRequest;
  readonly base: string | undefined;
}

type CommitResult =
  | { readonly kind: 'committed'; readonly commit: string }
  | { readonly kind: 'unchanged' }
  | DeliveryFailure;

/** By a hook, or by git, which does not know the person. */
function refusal(said: string): DeliveryFailure {
  if (!/tell me who you are|unable to auto-detect email/.test(said))
    return failed('commit', `the commit was refused: ${said}`);
  const remedy = 'run git config --global user.name and user.email';
  return { kind: 'trouble', trouble: { reason: "git doesn't know who commits", remedy } };
}

/** What the desk committed last: a crash may have come before it was recorded. */
async function tipOf(git: DeskGit, branch: string): Promise<string | undefined> {
  const found = await git.run(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`]);
  return found.kind === 'done' ? found.text.trim() : undefined;
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
