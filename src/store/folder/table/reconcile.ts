import { matchRows } from '../../../core/model/row-match.ts';
import { STATUSES, type Status } from '../../../core/model/status.ts';
import type { CellChange, Table } from '../../../formats/table.ts';
import type { Identities } from './identities.ts';
import type { RemovedRow, RemovedRows } from './removed-rows.ts';

/** One reading of the table: its bytes, statuses and identities. */
export interface Reading {
  readonly table: Table;
  readonly columns: readonly Uint8Array[];
  readonly identities: Identities;
}

/** What the run knows that the file does not. */
export interface Knowledge {
  readonly tasks: readonly string[];
  /** The identities in a table, some of which are known. */
  identify(table: Table, known: Iterable<[number, string]>): Identities;
  outputsOf(task: string): readonly string[];
  /** The run has a token for it. */
  isClaimed(id: string, task: string): boolean;
  claimed(): Iterable<{ id: string; task: string }>;
  isDoneHere(id: string, task: string): boolean;
  readonly removedRows: Pick<RemovedRows, 'find' | 'texts'>;
  /** You asked for it with a command. `freshId`: the id as derived by a program that has just read the table. */
  isSanctioned(freshId: string, task: string, to: Status): boolean;
}

/** `to`: its new status; null if its row is gone. */
interface Withdrawn {
  readonly id: string;
  readonly task: string;
  readonly to: Status | null;
  readonly reason: string;
}

export interface Reconciliation {
  readonly reading: Reading;
  /** Cells to write so that only allowed changes remain. */
  readonly putBack: readonly CellChange[];
  readonly reverted: readonly string[];
  readonly withdrawn: readonly Withdrawn[];
  /** What you changed with a command. */
  readonly meant: readonly { readonly id: string; readonly task: string }[];
  readonly addedRows: number;
  readonly removedRows: readonly RemovedRow[];
  /** Removed rows that are back. */
  readonly returnedRows: readonly RemovedRow[];
}

const PROTECTED: readonly Status[] = ['in_progress', 'qa', 'done'];

/**
 * Reconciles an edit by others with what the run knew as `before` (rules T4, T7, D5). Their metadata, rows and order
 * hold. Their statuses hold where you may set them; the others go back.
 */
export function reconcile(before: Reading, after: Reading, known: Knowledge): Reconciliation {
  const images = matchReadings(before, after, known.removedRows.texts());
  const ids: [number, string][] = [];
  for (const [row, id] of before.identities.known()) {
    const image = images[row]!;
    if (image >= 0) ids.push([image, id]);
  }
  const fresh = after.identities;
  const identities = known.identify(after.table, ids);
  const reading: Reading = { ...after, identities };

  const differences = findDifferences(before, after, images, known, fresh);
  const oldCopy = looksLikeOldCopy(differences, before, known);
  const putBack: CellChange[] = [];
  const reverted: string[] = [];
  const withdrawn: Withdrawn[] = [];

  const meant: { id: string; task: string }[] = [];
  for (const each of differences) {
    const { row, image, task, from, to, sanctioned } = each;
    const id = before.identities.id(row);
    // A running item can't be passed, not even by a command. It can be withdrawn, and its qa judges it.
    const isMeant = sanctioned && !(known.isClaimed(id, task) && PROTECTED.includes(to));
    if (isMeant) meant.push({ id, task });
    const mustGoBack = !isMeant && (PROTECTED.includes(to) || known.isDoneHere(id, task) || oldCopy);
    if (mustGoBack) {
      putBack.push({ row: image, column: after.table.columnOf(task), value: from });
      if (known.isDoneHere(id, task)) putBack.push(...lostOutputs(before, after, each, known));
      reverted.push(`row ${image + 1}: ${task} from ${from} to ${to}`);
    } else if (known.isClaimed(id, task)) {
      withdrawn.push({ id, task, to, reason: `set to ${to} by an edit` });
    }
  }

  for (const { id, task } of known.claimed()) {
    const row = before.identities.rowOf(id);
    if (row !== undefined && images[row]! < 0) {
      withdrawn.push({ id, task, to: null, reason: 'its row was removed' });
    }
  }
  const arrived = arrivedRows(after.table.rowCount, images);
  const returnedRows = new Set<RemovedRow>();
  for (const row of arrived) {
    const removed = known.removedRows.find(fresh.describe(row)).find((each) => !returnedRows.has(each));
    if (removed) returnedRows.add(removed);
    for (const [task, name] of known.tasks.entries()) {
      const code = after.columns[task]![row]!;
      const status = STATUSES[code]!;
      // Whatever its status says: it may be an earlier row in disguise.
      if (status === 'todo' || known.isSanctioned(fresh.id(row), name, status)) continue;
      if (removed?.statuses[task] === code && status !== 'in_progress') continue;
      putBack.push({ row, column: after.table.columnOf(name), value: 'todo' });
      reverted.push(`new row ${row + 1}: ${name} from todo to ${status}`);
    }
  }
  const removedRows = goneRows(before, images);
  return {
    reading,
    putBack,
    reverted,
    withdrawn,
    meant,
    addedRows: arrived.length,
    removedRows,
    returnedRows: [...returnedRows],
  };
}

function goneRows({ identities, columns }: Reading, images: Int32Array): RemovedRow[] {
  const gone: RemovedRow[] = [];
  for (const [row, image] of images.entries()) {
    if (image < 0) gone.push({ metadata: identities.describe(row), statuses: columns.map((column) => column[row]!) });
  }
  return gone;
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
 * Detects an editor that saves old statuses over new ones: a person does not take back a `done` of this run,
 * nor all running items at once. Then no status of that save counts.
 */
function looksLikeOldCopy(differences: readonly Difference[], before: Reading, known: Knowledge): boolean {
  const unmeant = differences.filter((each) => !each.sanctioned);
  if (unmeant.some((each) => known.isDoneHere(before.identities.id(each.row), each.task))) return true;
  const claimed = [...known.claimed()].length;
  const takenBack = unmeant.filter(
    (each) => each.to === 'todo' && known.isClaimed(before.identities.id(each.row), each.task),
  );
  return claimed >= 2 && takenBack.length === claimed;
}

/** Outputs of a `done` of this run go back with it. */
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

function matchReadings(before: Reading, after: Reading, removed: readonly string[]): Int32Array {
  // A column on one side only (added, removed) says nothing about identity; a renamed one does.
  const renamed = findRenamed(before, after);
  const names = new Map(after.identities.names.map((name) => [name, renamed.get(name) ?? name]));
  const shared = new Set(names.values());
  const common = before.identities.names.filter((name) => shared.has(name));
  // In another table, without a known column, no row is known.
  if (common.length === 0 && before.identities.names.length > 0) return new Int32Array(before.table.rowCount).fill(-1);
  const own = new Map(common.map((name) => [name, name]));
  const theirs = new Map([...names].filter(([, name]) => own.has(name)));
  const view = (reading: Reading, columns: ReadonlyMap<string, string>) => ({
    count: reading.table.rowCount,
    metadata: (row: number) => reading.identities.describe(row, columns),
    statuses: (row: number) => reading.columns.map((column) => column[row]).join(),
    isEarned: (row: number) => reading.columns.some((column) => PROTECTED.includes(STATUSES[column[row]!]!)),
  });
  const hasNewColumns = theirs.size < names.size;
  const same = (a: number, b: number) => before.table.sameRow(a, after.table, b);
  return matchRows(view(before, own), view(after, theirs), same, { removed, hasNewColumns });
}

/** Columns in the place of a missing one that hold most of its values: the new name, and the old one. */
function findRenamed(before: Reading, after: Reading): Map<string, string> {
  const [was, is] = [before.identities.names, after.identities.names];
  const gone = was.filter((name) => !is.includes(name));
  const fresh = is.filter((name) => !was.includes(name));
  if (gone.length !== fresh.length) return new Map();
  const pairs = fresh.map((name, i): [string, string] => [name, gone[i]!]);
  return new Map(pairs.filter(([name, old]) => hasMostOf(after.table, name, before.table, old)));
}

function hasMostOf(table: Table, name: string, older: Table, oldName: string): boolean {
  const [column, oldColumn] = [table.columnOf(name), older.columnOf(oldName)];
  const values = new Set<string>();
  for (let row = 0; row < older.rowCount; row++) values.add(older.cell(row, oldColumn));
  let known = 0;
  for (let row = 0; row < table.rowCount; row++) if (values.has(table.cell(row, column))) known++;
  return known * 2 >= table.rowCount;
}

/** The first few of many edits. */
export function summarise(reverted: readonly string[]): string {
  const shown = reverted.slice(0, 5).join('; ');
  return reverted.length > 5 ? `${shown}; and ${reverted.length - 5} more` : shown;
}
