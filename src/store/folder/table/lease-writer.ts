import { isOver, type LeaseTerms } from '../../../core/model/lease.ts';
import { mayWrite, type Status } from '../../../core/model/status.ts';
import { cellsAt } from '../../../core/schedule/plan.ts';
import type { Claim, ItemLease, ItemTask } from '../../store.ts';
import { newToken } from '../token.ts';
import { type Draft, snapshotOf } from './draft.ts';
import type { Leases } from './leases.ts';
import type { WriteQueue } from './write-queue.ts';

/** Why a run lost an item. `to`: its status now; null if its row is gone. */
export interface Withdrawal {
  readonly to: Status | null;
  readonly reason: string;
}

function taken(to: Status): Withdrawal {
  return { to, reason: 'its lease was over, and it was taken' };
}

interface Cell extends ItemTask {
  readonly row: number;
  readonly column: number;
}

export interface LeaseWriterOptions {
  readonly queue: WriteQueue<Draft>;
  readonly leases: Leases;
  /** Throws if the task is not in the Task Order. */
  columnOf(task: string): number;
  tasks(): readonly string[];
  withdraw(lease: ItemLease, cause: Withdrawal): void;
}

/** The part of the store that hands out leases and ends them. A lease changes only after the table was written. */
export class LeaseWriter {
  readonly #options: LeaseWriterOptions;

  constructor(options: LeaseWriterOptions) {
    this.#options = options;
  }

  claim(task: string, ids: readonly string[], terms: LeaseTerms): Promise<Claim[]> {
    const { queue, leases } = this.#options;
    return queue.add((draft) => {
      const lost: ItemLease[] = [];
      const claims: Claim[] = [];
      for (const cell of this.#cells(draft, task, ids)) {
        const before = leases.of(cell);
        const status = draft.status(cell.row, cell.column);
        if ((before && !isOver(before, terms.now)) || (status !== 'todo' && status !== 'qa')) continue;
        if (status === 'todo') draft.setStatus(cell.row, cell.column, 'in_progress');
        if (before) lost.push(before);
        claims.push(newClaim(cell, status === 'todo' ? 'in_progress' : 'qa', terms));
      }
      return () => {
        for (const lease of lost) this.#options.withdraw(lease, taken('qa'));
        for (const claim of claims) leases.add(claim);
        return claims;
      };
    });
  }

  /** The caller has proved that the item is theirs, so it does not matter who has the lease. */
  adopt({ id, task }: ItemTask, terms: LeaseTerms): Promise<Claim | undefined> {
    const { queue, leases } = this.#options;
    return queue.add((draft) => {
      const [cell] = this.#cells(draft, task, [id]);
      const status = cell && draft.status(cell.row, cell.column);
      const claim = status === 'in_progress' || status === 'qa' ? newClaim(cell!, status, terms) : undefined;
      return () => {
        if (claim) leases.add(claim);
        return claim;
      };
    });
  }

  renew(tokens: readonly string[], expiresAt: number): string[] {
    const { leases } = this.#options;
    return tokens.filter((token) => {
      const lease = leases.find(token);
      if (lease) leases.add({ ...lease, expiresAt });
      return lease === undefined;
    });
  }

  giveBackStale(now: number): Promise<number> {
    const { queue, leases } = this.#options;
    return queue.add((draft) => {
      const lost: ItemLease[] = [];
      let count = 0;
      const snapshot = snapshotOf(draft.reading, this.#options.tasks());
      for (const { row, task } of cellsAt(snapshot, 'in_progress')) {
        const column = this.#options.columnOf(task);
        const lease = leases.of({ id: snapshot.id(row), task });
        if (draft.status(row, column) !== 'in_progress' || (lease && !isOver(lease, now))) continue;
        draft.setStatus(row, column, 'todo');
        if (lease) lost.push(lease);
        count++;
      }
      return () => {
        for (const lease of lost) this.#options.withdraw(lease, taken('todo'));
        return count;
      };
    });
  }

  reset(cells: readonly ItemTask[]): Promise<number> {
    const { queue, leases } = this.#options;
    return queue.add((draft) => {
      let count = 0;
      for (const { id, task } of cells) {
        for (const { row, column } of this.#cells(draft, task, [id])) {
          if (!mayWrite('reset', draft.status(row, column), 'todo')) continue;
          draft.setStatus(row, column, 'todo');
          count++;
        }
      }
      return () => {
        for (const cell of cells) {
          const lease = leases.of(cell);
          if (lease) leases.end(lease);
          leases.unmarkDone(cell);
        }
        return count;
      };
    });
  }

  #cells(draft: Draft, task: string, ids: readonly string[]): Cell[] {
    const column = this.#options.columnOf(task);
    return ids.flatMap((id) => {
      const row = draft.reading.identities.rowOf(id);
      return row === undefined ? [] : [{ id, task, row, column }];
    });
  }
}

function newClaim({ id, task, row }: Cell, status: Claim['status'], { owner, expiresAt }: LeaseTerms): Claim {
  return { id, task, row, status, token: newToken(), owner, expiresAt };
}
