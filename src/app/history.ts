import { History } from '../core/folds/history.ts';
import { ItemDetails } from '../core/folds/item-details.ts';
import type { NightshiftEvent } from '../core/model/events.ts';
import type { Expenses } from '../core/schedule/budget.ts';
import { filesOfRun, olderFiles, readEvents, readValues } from '../store/folder/journal/journal-reader.ts';
import { Ledger } from '../store/folder/journal/ledger.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import type { World } from './world.ts';

/** The history in the journal and the ledger. */
export async function readHistory(paths: ShiftPaths, world: Pick<World, 'env'>): Promise<History> {
  const history = new History();
  for await (const { value, isFirst } of readValues(paths.journal)) history.read(value, isFirst);
  countLedger(history, paths, world);
  return history;
}

/** If the ledger outside of the project shows more spending than the journal, that counts. */
export function countLedger(history: History, { folder }: ShiftPaths, { env }: Pick<World, 'env'>): void {
  const total = new Ledger(folder, env).read();
  if (total) history.atLeast(total);
}

/** What counts towards the limits before a run starts. */
export function spentIn({ usage, tally }: History): Expenses {
  return { usage, ms: tally.ms, failures: 0 };
}

/** The latest event of this type in a run. */
export async function lastEvent<T extends NightshiftEvent['type']>(
  paths: ShiftPaths,
  run: string,
  type: T,
): Promise<Extract<NightshiftEvent, { type: T }> | undefined> {
  for (const file of filesOfRun(paths.journal, run).reverse()) {
    let found: Extract<NightshiftEvent, { type: T }> | undefined;
    for await (const event of readEvents(file, { containing: [`"${type}"`, run] })) {
      if (event.run === run && event.type === type) found = event as Extract<NightshiftEvent, { type: T }>;
    }
    if (found) return found;
  }
  return undefined;
}

/** The details of the latest try of an item, by task, for tasks that are in `history`. */
export async function readDetails(
  { journal }: ShiftPaths,
  item: string,
  tasks: readonly string[],
  history: History,
): Promise<ReadonlyMap<string, ItemDetails>> {
  const wanted = new Set(tasks.filter((task) => history.of(task, item)));
  const details = new Map([...wanted].map((task) => [task, new ItemDetails()]));
  const files = [
    journal,
    ...olderFiles(journal)
      .map(({ file }) => file)
      .reverse(),
  ];
  const told: NightshiftEvent[][] = [];
  // Newest first: the start of the latest try is seldom far back.
  for (const file of files) {
    if (wanted.size === 0) break;
    const found: NightshiftEvent[] = [];
    for await (const event of readEvents(file, { containing: [`"item":${JSON.stringify(item)}`] })) {
      if (event.item === item) found.push(event);
    }
    told.unshift(found);
    for (const { type, task = '' } of found) if (type === 'dev:started') wanted.delete(task);
  }
  for (const event of told.flat()) details.get(event.task ?? '')?.add(event);
  return details;
}
