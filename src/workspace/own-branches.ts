import { branchOf, isOfShift } from '../core/workspace/branch-name.ts';
import type { OutsideChange } from '../core/workspace/outside.ts';
import type { WorkspaceRecord, WorkspaceRecords } from './records.ts';

const BRANCHES = 'refs/heads/';

/** The branches that the engine moves, here and in other processes. */
export class OwnBranches {
  readonly #shift: string;
  readonly #records: Pick<WorkspaceRecords, 'all'>;
  /** Where workspaces begin that are being made. */
  readonly #begun = new Map<string, string | undefined>();
  /** Merges that were seen, each with its place: a branch that is back at one has lost a later one. */
  readonly #merges = new Set<string>();

  constructor(shift: string, records: Pick<WorkspaceRecords, 'all'>) {
    this.#shift = shift;
    this.#records = records;
  }

  /** A workspace is about to begin, with its branch at its base. */
  begins({ branch, base }: WorkspaceRecord): void {
    this.#begun.set(branch, base);
  }

  /** Its row is at work. */
  enters({ branch }: WorkspaceRecord): void {
    this.#begun.delete(branch);
  }

  /**
   * Whether a change is that of a branch which is the own one of a row that was at work or is about to be: what is
   * delivered there is the engine's commit. Those of other shifts are theirs.
   */
  isOfRow(
    { place, name, now }: OutsideChange,
    rows: ReadonlyMap<number, { readonly record: WorkspaceRecord }>,
  ): boolean {
    const branch = branchIn(name);
    if (branch === undefined) return false;
    const isAtWork = [...rows.values()].some(({ record }) => record.branch === branch);
    if (isAtWork && place.kind === 'repository') return true;
    if (this.#begun.has(branch) && this.#begun.get(branch) === now) return true;
    return isOfShift(branch) && !branch.startsWith(branchOf(this.#shift, ''));
  }

  /** Whether the engine has moved a branch. Recorded before it is done, also by `nightshift deliver` beside the run. */
  async isDelivered({ place, name, now: commit }: OutsideChange): Promise<boolean> {
    const branch = branchIn(name);
    if (branch === undefined || commit === undefined) return false;
    const records = await this.#records.all();
    if (records.some((each) => each.branch === branch && each.delivery?.commit === commit)) return true;
    const merge = `${place.label} ${branch} ${commit}`;
    const isMerge = records.some(({ delivery }) => delivery?.merges?.at(-1)?.merged === commit);
    if (!isMerge || this.#merges.has(merge)) return false;
    this.#merges.add(merge);
    return true;
  }
}

/** Undefined: it is no branch. */
function branchIn(name: string): string | undefined {
  return name.startsWith(BRANCHES) ? name.slice(BRANCHES.length) : undefined;
}
