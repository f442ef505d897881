import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WrittenJournal } from '../../../test/kit/written-journal.ts';
import { readStreamPosition, writeStreamPosition } from '../../core/page/stream-position.ts';
import { JournalTail, positionAtEnd } from './journal-tail.ts';

/** A reader that is restarted after each batch, as a server may be: it only keeps the id of the last message. */
class RestartedReader {
  readonly #journal: string;
  #id: string;
  readonly seen: (number | 'edit')[] = [];

  private constructor(journal: string, id: string) {
    this.#journal = journal;
    this.#id = id;
  }

  static async open(journal: string): Promise<RestartedReader> {
    return new RestartedReader(journal, idOf(await positionAtEnd(journal, Date.now() - 1)));
  }

  /** `most`: what is received before the connection is cut. */
  async read(most = Number.POSITIVE_INFINITY): Promise<void> {
    const tail = new JournalTail(this.#journal, readStreamPosition(this.#id).get('s')!);
    for (let left = most; left > 0; ) {
      const events = await tail.read();
      if (events.length === 0) break;
      for (const { event, position } of events.slice(0, left)) {
        this.seen.push(event.run === '' ? 'edit' : event.seq);
        this.#id = idOf(position);
      }
      left -= events.length;
    }
  }
}

function idOf(position: Parameters<typeof writeStreamPosition>[0] extends ReadonlyMap<string, infer P> ? P : never) {
  return writeStreamPosition(new Map([['s', position]]));
}

function replaceBy(file: string, bytes: Buffer): void {
  writeFileSync(`${file}.new`, bytes);
  renameSync(`${file}.new`, file);
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

test('X8 a reader that is cut off and restarted at any event misses none and gets none twice, across files', async () => {
  const written = new WrittenJournal();
  const reader = await RestartedReader.open(written.file);
  await reader.read();
  await written.tell(5);
  await reader.read(2);
  await written.edit();
  await written.rotate(3);
  await reader.read(4);
  await written.tell(2);
  await written.edit();
  await written.edit();
  await written.rotate();
  await written.rotate(1);
  await written.tell(1);
  await reader.read(1);
  await reader.read();
  await reader.read();
  expect(reader.seen).toEqual([1, 2, 3, 4, 5, 'edit', 6, 7, 8, 9, 10, 'edit', 'edit', 11, 12]);
});

test('X8 a reader begins at the end of what is there, whatever was torn', async () => {
  const written = new WrittenJournal();
  await written.tell(3);
  writeFileSync(written.file, '{"type":"usage:spent","at":"half', { flag: 'a' });
  const reader = await RestartedReader.open(written.file);
  await written.tell(2);
  await reader.read();
  expect(reader.seen).toEqual([4, 5]);
});

test.each<[string, (file: string) => void]>([
  ['by a copy of itself', (file) => replaceBy(file, readFileSync(file))],
  [
    'in place, by a longer text in front of it',
    (file) =>
      writeFileSync(
        file,
        `{"type":"run:warning","at":"2020-01-01T00:00:00Z","run":"r0","seq":1}\n${readFileSync(file)}`,
      ),
  ],
  ['by nothing: it was removed', (file) => rmSync(file)],
  ['by its beginning: it was cut', (file) => truncateSync(file, 200)],
])('X8 after the journal was replaced %s, events are still told once', async (_, replace) => {
  const written = new WrittenJournal();
  const reader = await RestartedReader.open(written.file);
  await written.tell(6);
  await reader.read();
  replace(written.file);
  await reader.read();
  await written.tell(3);
  await reader.read();
  expect(reader.seen).toEqual(upTo(9));
});

test('X8 a journal that is away for a while is the same when it is back', async () => {
  const written = new WrittenJournal();
  const reader = await RestartedReader.open(written.file);
  await written.tell(4);
  await reader.read();
  const bytes = readFileSync(written.file);
  rmSync(written.file);
  await reader.read();
  replaceBy(written.file, bytes);
  await reader.read();
  expect(reader.seen).toEqual(upTo(4));
});

test('X8 a journal of another run, written over the old one in place, is read from its beginning', async () => {
  const written = new WrittenJournal();
  const reader = await RestartedReader.open(written.file);
  await written.tell(3);
  await reader.read();
  const at = new Date(Date.now() + 1000).toISOString();
  const lines = upTo(50).map(
    (seq) => `${JSON.stringify({ type: 'run:warning', at, run: 'r2', seq, message: 'new' })}\n`,
  );
  writeFileSync(written.file, lines.join(''));
  await reader.read();
  expect(reader.seen).toEqual([1, 2, 3, ...upTo(50)]);
});
