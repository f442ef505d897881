import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../layout.ts';
import { FolderStore } from './folder-store.ts';

const HEADER = 'name,work\n';
const TABLE = `${HEADER}a,todo\nb,todo\n`;

test.each([
  ['with a ragged row', (file: string) => writeFileSync(file, `${TABLE}x,todo,more\n`), 'this row has 3 cells'],
  ['with an unknown status', (file: string) => writeFileSync(file, `${TABLE}x,maybe\n`), 'maybe'],
  ['without its rows', (file: string) => writeFileSync(file, HEADER), 'rows'],
  ['without the column of a task', (file: string) => writeFileSync(file, 'name\na\n'), 'no column work'],
  ['that is gone', (file: string) => rmSync(file), 'table.csv'],
  [
    'that is a folder',
    (file: string) => {
      rmSync(file);
      mkdirSync(join(file, 'x'), { recursive: true });
    },
    'table.csv',
  ],
])(
  'F6 a table %s: reads fail until it is repaired; results can go to its last readable version',
  async (kind, damage, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'nightshift-unreadable-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { journal, identity } = shiftPaths(folder, 'x');
    const table = join(folder, 'table.csv');
    const isGone = kind === 'that is gone';
    writeFileSync(table, TABLE);
    const store = new FolderStore({
      ...{ table, lock: `${table}.lock`, journal, identity, tasks: ['work'], outputs: new Map() },
      ...{ emit: () => {}, patienceMs: 0 },
    });
    const snapshot = await store.snapshot();
    const [a, b] = await store.claim('work', [snapshot.id(0), snapshot.id(1)], { owner: 'run', now: 0, expiresAt: 1 });
    const claimed = readFileSync(table);

    damage(table);
    const unreadable = { message: expect.stringContaining(message), file: table };
    await expect(store.changes()).rejects.toMatchObject(unreadable);
    await expect(store.record(a!.token, 'in_progress', 'qa')).rejects.toMatchObject(unreadable);
    if (!isGone) renameSync(table, join(folder, 'broken'));
    writeFileSync(table, claimed);
    expect(await store.restore()).toBeUndefined();
    expect(await store.record(a!.token, 'in_progress', 'qa')).toEqual({ ok: true });

    damage(table);
    await expect(store.record(b!.token, 'in_progress', 'failed')).rejects.toMatchObject(unreadable);
    const restored = await store.restore();
    expect(readdirSync(folder).filter((name) => name.includes('put-back'))).toHaveLength(isGone ? 0 : 1);
    expect(restored).toEqual(isGone ? {} : { kept: expect.stringContaining('table.csv.put-back-') });
    expect(await store.record(b!.token, 'in_progress', 'failed')).toEqual({ ok: true });
    expect(readFileSync(table, 'utf8')).toBe(`${HEADER}a,qa\nb,failed\n`);
  },
);
