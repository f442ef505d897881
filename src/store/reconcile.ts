import { matchRows } from '../core/row-match.ts';
import { STATUSES, type Status } from '../core/status.ts';
import type { CellChange, Table } from '../formats/table.ts';
import { Identities } from './identities.ts';

/** One reading of the table: its bytes, the statuses in it, and who is who. */
export interface Reading {
  readonly table: Table;
  readonly columns: readonly Uint8Array[];
  readonly identities: Identities;
}

/** What the run knows that the file does not. */
export interface Knowledge {
  readonly tasks: readonly string[];
  readonly statusAndOutputs: ReadonlySet<string>;
  outputsOf(task: string): readonly string[];
  /** The run has a token for it. */
  isClaimed(id: string, task: string): boolean;
  claimed(): Iterable<{ id: string; task: string; status: Status }>;
  isDoneHere(id: string, task: string): boolean;
  /** A person asked for it with a command. `freshId`: the id as a program that only now read the table works it out. */
  isSanctioned(freshId: string, task: string, to: Status): boolean;
}

export interface Reconciled {
  readonly reading: Reading;
  /** Cells to write so that only what an outsider may change has changed. */
  readonly putBack: readonly CellChange[];
  readonly reverted: readonly string[];
  readonly withdrawn: readonly { readonly id: string; readonly task: string; readonly reason: string }[];
  /** What a person changed with a command. */
  readonly meant: readonly { readonly id: string; readonly task: string }[];
  readonly addedRows: number;
}

const PROTECTED: readonly Status[] = ['in_progress', 'qa', 'done'];

/**
 * Somebody else wrote the table while a run knew it as `before` (rules T4, T7, D5). Their metadata, rows and order hold;
 * their statuses hold where a person may set them, and are put back where only the run may.
 */
export function reconcile(before: Reading, after: Reading, known: Knowledge): Reconciled {
  const images = matchReadings(before, after);
  const ids: [number, string][] = [];
  for (const [row, id] of before.identities.known()) {
    const image = images[row]!;
    if (image >= 0) ids.push([image, id]);
  }
  const fresh = after.identities;
  const identities = new Identities(after.table, known.statusAndOutputs, ids);
  const reading: Reading = { ...after, identities };

  const differences = findDifferences(before, after, images, known, fresh);
  const oldCopy = looksLikeOldCopy(differences, before, known);
  const putBack: CellChange[] = [];
  const reverted: string[] = [];
  const withdrawn: { id: string; task: string; reason: string }[] = [];

  const meant: { id: string; task: string }[] = [];
  for (const each of differences) {
    const { row, image, task, from, to, sanctioned } = each;
    const id = before.identities.id(row);
    // Nobody passes an item that is in flight, not by a command either: it can be withdrawn, and judged by its qa.
    const isMeant = sanctioned && !(known.isClaimed(id, task) && PROTECTED.includes(to));
    if (isMeant) meant.push({ id, task });
    const mustGoBack = !isMeant && (PROTECTED.includes(to) || known.isDoneHere(id, task) || oldCopy);
    if (mustGoBack) {
      putBack.push({ row: image, column: after.table.columnOf(task), value: from });
      if (known.isDoneHere(id, task)) putBack.push(...lostOutputs(before, after, each, known));
      reverted.push(`row ${image + 1}: ${task} from ${from} to ${to}`);
    } else if (known.isClaimed(id, task)) {
      withdrawn.push({ id, task, reason: `somebody set it to ${to}` });
    }
  }

  const removed: typeof withdrawn = [];
  for (const { id, task } of known.claimed()) {
    const row = before.identities.rowOf(id);
    if (row !== undefined && images[row]! < 0) removed.push({ id, task, reason: 'somebody removed its row' });
  }
  withdrawn.push(...removed);
  // A row that takes the place of one in flight may be that one, disguised: it does not get past qa that way.
  const refused = removed.length > 0 ? PROTECTED : PROTECTED.filter((status) => status !== 'done');

  const arrived = arrivedRows(after.table.rowCount, images);
  for (const row of arrived) {
    for (const [task, name] of known.tasks.entries()) {
      const status = STATUSES[after.columns[task]![row]!]!;
      if (!refused.includes(status)) continue;
      if (known.isSanctioned(fresh.id(row), name, status)) continue;
      putBack.push({ row, column: after.table.columnOf(name), value: 'todo' });
      reverted.push(`new row ${row + 1}: ${name} from todo to ${status}`);
    }
  }
  return { reading, putBack, reverted, withdrawn, meant, addedRows: arrived.length };
}

interface Difference {
  readonly row: number;
  readonly image: number;
  readonly task: string;
  readonly from: Status;
  readonly to: Status;
  readonly sanctioned: boolean;
}

function findDifferences(
  before: Reading,
  after: Reading,
  images: Int32Array,
  known: Knowledge,
  fresh: Identities,
): Difference[] {
  const differences: Difference[] = [];
  for (let row = 0; row < images.length; row++) {
    const image = images[row]!;
    if (image < 0) continue;
    for (const [index, task] of known.tasks.entries()) {
      const [was, is] = [before.columns[index]![row]!, after.columns[index]![image]!];
      if (was === is) continue;
      const [from, to] = [STATUSES[was]!, STATUSES[is]!];
      const sanctioned = known.isSanctioned(fresh.id(image), task, to);
      differences.push({ row, image, task, from, to, sanctioned });
    }
  }
  return differences;
}

/**
 * An editor that had the file open since before saves old statuses over new ones. It shows: nobody takes a `done` of
 * this run back by hand, nor every item in flight at once. Then no status of that save was meant.
 */
function looksLikeOldCopy(differences: readonly Difference[], before: Reading, known: Knowledge): boolean {
  const unmeant = differences.filter((each) => !each.sanctioned);
  if (unmeant.some((each) => known.isDoneHere(before.identities.id(each.row), each.task))) return true;
  const inFlight = [...known.claimed()].length;
  const takenBack = unmeant.filter(
    (each) => each.to === 'todo' && known.isClaimed(before.identities.id(each.row), each.task),
  );
  return inFlight >= 2 && takenBack.length === inFlight;
}

/** What a `done` of this run had captured goes back together with it. */
function lostOutputs(before: Reading, after: Reading, lost: Difference, known: Knowledge): CellChange[] {
  return known.outputsOf(lost.task).flatMap((name) => {
    const [was, is] = [before.table.columnOf(name), after.table.columnOf(name)];
    if (was < 0 || is < 0) return [];
    const value = before.table.cell(lost.row, was);
    return value === after.table.cell(lost.image, is) ? [] : [{ row: lost.image, column: is, value }];
  });
}

function arrivedRows(count: number, images: Int32Array): number[] {
  const known = new Uint8Array(count);
  for (const image of images) if (image >= 0) known[image] = 1;
  const arrived: number[] = [];
  for (let row = 0; row < count; row++) if (known[row] === 0) arrived.push(row);
  return arrived;
}

function matchReadings(before: Reading, after: Reading): Int32Array {
  // A column that only one side has (added, removed, renamed) says nothing about who is who.
  const common = new Set(before.identities.names.filter((name) => after.identities.names.includes(name)));
  const view = (reading: Reading) => ({
    count: reading.table.rowCount,
    metadata: (row: number) => reading.identities.describe(row, common),
    statuses: (row: number) => reading.columns.map((column) => column[row]).join(),
  });
  return matchRows(view(before), view(after), (a, b) => before.table.sameRow(a, after.table, b));
}

/** Of many edits, the first few. */
export function summarise(reverted: readonly string[]): string {
  const shown = reverted.slice(0, 5).join('; ');
  return reverted.length > 5 ? `${shown}; and ${reverted.length - 5} more` : shown;
}
