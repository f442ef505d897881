import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WrittenJournal } from '../../../test/kit/written-journal.ts';
import { answerJournal } from './journal-answer.ts';
import type { JournalFilter } from './page.ts';

/** All pages, one after the other. */
async function readAll(journal: string, filter: JournalFilter = {}): Promise<number[]> {
  const seqs: number[] = [];
  for (let before: string | undefined; ; ) {
    const answer = await answerJournal(journal, { ...filter, ...(before === undefined ? {} : { before }) });
    expect(answer.events.length).toBeLessThanOrEqual(200);
    seqs.push(...answer.events.map(({ event }) => event.seq));
    if (answer.before === undefined) return seqs;
    before = answer.before;
  }
}

const downFrom = (last: number) => Array.from({ length: last }, (_, i) => last - i);

describe('the journal, from its end', () => {
  test('X8 every event is on one page, the latest first, across files and checkpoints', async () => {
    const written = new WrittenJournal();
    await written.tell(450);
    await written.rotate(20);
    await written.tell(30);
    await written.rotate();
    await written.tell(700);
    expect(await readAll(written.file)).toEqual(downFrom(1200));
  });

  test('X8 filters choose by type, task and item', async () => {
    const written = new WrittenJournal();
    await written.tell(60);
    await written.rotate();
    await written.tell(60);
    const matching = (keep: (seq: number) => boolean) => downFrom(120).filter(keep);
    expect(await readAll(written.file, { type: 'attempt:finished' })).toEqual(matching((seq) => seq % 3 === 0));
    expect(await readAll(written.file, { task: 'work', item: 'i3' })).toEqual(
      matching((seq) => seq % 2 === 0 && seq % 5 === 3),
    );
    expect(await readAll(written.file, { type: 'run:started' })).toEqual([]);
  });

  test('X8 a checkpoint that another program appended hides nothing', async () => {
    const written = new WrittenJournal();
    await written.tell(3);
    const line = '{"type":"checkpoint:steps","task":"work","change":{"to":"v","lessons":[]}}\n';
    writeFileSync(written.file, `${line}{"type":"checkpoint:ended","bytes":12}\n`, { flag: 'a' });
    expect(await readAll(written.file)).toEqual([3, 2, 1]);
  });

  test('X8 a position of a file that is gone is an error, and no journal has no events', async () => {
    const written = new WrittenJournal();
    expect(await answerJournal(written.file, {})).toEqual({ events: [] });
    await written.tell(1);
    await expect(answerJournal(written.file, { before: '1:2.3' })).rejects.toThrow('the journal was replaced');
    await expect(answerJournal(written.file, { before: '../x' })).rejects.toThrow('is no position in a journal');
  });
});
