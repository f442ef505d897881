import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { History } from '../../../core/folds/history.ts';
import type { NightshiftEvent } from '../../../core/model/events.ts';
import { Journal } from './journal.ts';
import type { JournalMemory } from './journal-memory.ts';
import { filesOfRun, journalEnd, readSince, readValues } from './journal-reader.ts';
import { LineFollower } from './line-follower.ts';

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, '.engine'));
  return { folder, engine: join(folder, '.engine'), journal: join(folder, '.engine', 'journal.jsonl') };
}

/** A run, as far as the journal is concerned. */
function keeperOf(history: History, run: string, lost: string[] = []): JournalMemory {
  return {
    run,
    mayRotate: true,
    read: (value, isFirst) => history.read(value, isFirst),
    heard: (event) => history.add(event),
    checkpoint: () => history.checkpoint({ at: '2026-01-01T00:00:00Z', run, shift: 's' }),
    lost: (what) => lost.push(what),
    setAside: () => {},
  };
}

const text = 'x'.repeat(10_000);
const spent = (run: string, seq: number) =>
  ({
    ...{ type: 'usage:spent', at: '2026-01-01T00:00:00Z', run, seq, shift: 's', task: 'work', item: `i${seq % 7}` },
    ...{ role: 'dev', agent: 'a', usage: { costUsd: 1 }, text },
  }) as unknown as NightshiftEvent;

async function readBack(journal: string): Promise<History> {
  const history = new History();
  for await (const { value, isFirst } of readValues(journal)) history.read(value, isFirst);
  return history;
}

test('R3 a sync that failed is told to all who come later: the system tells it once, and what it lost stays lost', async () => {
  const { folder, journal: file } = place();
  const handle = await open(file, 'w');
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
  await handle.close();
  await using journal = await Journal.open({ folder, journal: file });
  sync.mockRejectedValueOnce(Object.assign(new Error('lost'), { code: 'EIO' }));
  journal.append({ type: 'dev:finished' });
  await expect(journal.flush()).rejects.toThrow('the disk failed at');
  await expect(journal.flush()).rejects.toThrow('the disk failed at');
  expect(() => journal.check()).toThrow('the disk failed at');
  expect(journal.failed.aborted).toBe(true);
});

test('X6 a journal that grows is continued in new files: each event counts once, and readers miss none', async () => {
  const { folder, journal: file, engine } = place();
  const history = new History();
  await using journal = await Journal.open({ folder, journal: file }, keeperOf(history, 'r1'));
  await using other = await Journal.open({ folder, journal: file });
  await using follower = new LineFollower(file);
  const seen: number[] = [];
  const follow = async () => {
    for (let lines = await follower.read(); lines.length > 0; lines = await follower.read()) {
      for (const { type, run, seq } of lines.map((line) => JSON.parse(line))) {
        if (type === 'usage:spent' && run === 'r1') seen.push(seq);
      }
    }
  };
  const begin = journalEnd(file);
  for (let seq = 1; seq <= 2000; seq++) {
    const event = spent('r1', seq);
    journal.append(event);
    history.add(event);
    // Another process, which has the file open when it is replaced.
    if (seq % 100 === 0) {
      other.append(spent('by hand', seq));
      await Promise.all([journal.flush(), other.flush()]);
      await follow();
    }
  }
  await journal.flush();
  await follow();
  const files = readdirSync(engine).sort();
  expect(files).toEqual(['journal-0001.jsonl', 'journal-0002.jsonl', 'journal.jsonl']);
  expect(seen).toEqual(Array.from({ length: 2000 }, (_, i) => i + 1));
  expect((await readBack(file)).usage).toEqual({ costUsd: 2020 });
  expect(filesOfRun(file, 'r1')).toHaveLength(3);
  let count = 0;
  for await (const event of readSince(file, begin, ['"by hand"'])) count += event.run === 'by hand' ? 1 : 0;
  expect(count).toBe(20);

  // The next run reads the same, and does not begin a new file without need.
  const next = new History();
  await using _again = await Journal.open({ folder, journal: file }, keeperOf(next, 'r2'));
  expect([...next.checkpoint(STAMP)]).toEqual([...(await readBack(file)).checkpoint(STAMP)]);
  expect(readdirSync(engine).sort()).toEqual(files);
});

const STAMP = { at: '', run: '', shift: '' };

test('X6 a checkpoint counts only at the beginning of a file: anybody could append one', async () => {
  const { folder, journal: file } = place();
  const history = new History();
  const lost: string[] = [];
  await using journal = await Journal.open({ folder, journal: file }, keeperOf(history, 'r1', lost));
  const event = spent('r1', 1);
  journal.append(event);
  history.add(event);
  await journal.flush();
  await using forger = await Journal.open({ folder, journal: file });
  for (const line of new History().checkpoint(STAMP)) forger.append(line);
  forger.append(spent('r1', 2));
  await forger.flush();
  expect((await readBack(file)).usage).toEqual({ costUsd: 2 });
  // One that is written after a loss is the beginning of its file.
  rmSync(file);
  journal.append(spent('r1', 3));
  history.add(spent('r1', 3));
  await journal.flush();
  expect(lost).toEqual(['was removed']);
  expect(readFileSync(file, 'utf8')).toMatch(/^\{"type":"checkpoint:started"/);
  expect((await readBack(file)).usage).toEqual({ costUsd: 2 });
});
