import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WrittenJournal } from '../../../test/kit/written-journal.ts';
import type { History } from '../../core/folds/history.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { readHistory } from '../history.ts';
import { FollowedHistory } from './followed-history.ts';

const WORLD = { env: {} };
/** Without the time of the last event: a run may hear of an edit after its own next event. */
const folded = (history: History) =>
  [...history.checkpoint({ at: '', run: '', shift: '' })].map((line) => ({ ...line, lastAt: undefined }));

test('X8 a history that is followed is the one that is read anew, also when the journal is continued or lost', async () => {
  const written = new WrittenJournal();
  const paths = { ...written, journal: written.file } as unknown as ShiftPaths;
  const followed = new FollowedHistory(WORLD);
  const expectSame = async () => {
    const history = await followed.read(paths);
    expect(followed.isPartial).toBe(false);
    expect(folded(history)).toEqual(folded(await readHistory(paths, WORLD)));
    return history;
  };
  await expectSame();
  await written.tell(10);
  const first = await expectSame();
  await written.rotate(4);
  await written.edit();
  await written.tell(3);
  await written.rotate();
  // Still the same object: only what is new was read.
  expect(await expectSame()).toBe(first);
  expect(first.usage.costUsd).toBe(11);
  rmSync(written.file);
  await written.tell(1);
  expect((await expectSame()).usage.costUsd).toBe(11);
});
