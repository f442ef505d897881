import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FolderStore } from '../src/store/folder/table/folder-store.ts';
import type { Claim } from '../src/store/store.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { megabytes, ms, takeTurns, timed } from './measure.ts';
import { Project, STREAM, TASK, wideTable } from './project.ts';

const CHANGES = 40;

/** A status that would survive a power cut, next to the cheapest way to put a file of that size durably in place. */
export async function durableChange(): Promise<Section> {
  const together: Figure = await changesTogether();
  return { title: 'A durable change', figures: [await oneByOne(10_000), await oneByOne(100_000), together] };
}

async function oneByOne(rows: number): Promise<Figure> {
  using project = new Project({ settings: STREAM, table: wideTable(rows), step: 'true' });
  const { store, claims } = await claimedItems(project, rows, CHANGES);
  const copy = Buffer.alloc(statSync(join(project.folder, 'table.csv')).size, 'x');
  let next = 0;
  const taken = await takeTurns(CHANGES, {
    record: () => timed(() => store.record(claims[next++]!.token, 'in_progress', 'qa')),
    file: () => timed(async () => replaceFile(join(project.root, 'copy'), copy)),
  });
  return {
    what: `one status at ${rows.toLocaleString('en')} rows`,
    ours: ms(taken.record),
    other: `write, fsync, rename ${megabytes(copy.length)}: ${ms(taken.file)}`,
    ratio: taken.record / taken.file,
    target: atMost(1.5),
  };
}

async function changesTogether(): Promise<Figure> {
  using project = new Project({ settings: STREAM, table: wideTable(10_000), step: 'true' });
  const { store, claims, writes } = await claimedItems(project, 10_000, 8);
  const before = writes();
  const recorded = await Promise.all(claims.map(({ token }) => store.record(token, 'in_progress', 'qa')));
  if (!recorded.every(({ ok }) => ok)) throw new Error('a change was refused');
  const count = writes() - before;
  return {
    what: '8 changes that wait together',
    ours: `${count} ${count === 1 ? 'write' : 'writes'}`,
    other: 'one write for all',
    ratio: count,
    target: atMost(2),
  };
}

async function claimedItems(
  { folder }: Project,
  rows: number,
  count: number,
): Promise<{ store: FolderStore; claims: Claim[]; writes: () => number }> {
  let written = 0;
  const store = new FolderStore({
    table: join(folder, 'table.csv'),
    lock: join(folder, 'table.csv.lock'),
    journal: join(folder, 'journal.jsonl'),
    identity: join(folder, 'identity.json'),
    tasks: [TASK],
    outputs: new Map(),
    emit: () => {},
    failpoint: (name) => {
      if (name === 'table:renamed') written++;
    },
  });
  const snapshot = await store.snapshot();
  // Spread over the table, as far from each other as they can be.
  const ids = Array.from({ length: count }, (_, i) => snapshot.id(Math.floor((i * rows) / count)));
  return {
    store,
    claims: await store.claim(TASK, ids, { owner: 'bench', now: 0, expiresAt: 60_000 }),
    writes: () => written,
  };
}

function replaceFile(file: string, bytes: Buffer): void {
  const handle = openSync(`${file}.tmp`, 'w');
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(handle, bytes, offset);
  fsyncSync(handle);
  closeSync(handle);
  renameSync(`${file}.tmp`, file);
}
