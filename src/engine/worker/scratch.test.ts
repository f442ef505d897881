import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Scratch } from './scratch.ts';

test('D4 an order begins with an empty folder, and no other order is given its output file', async () => {
  const first = Scratch.take();
  const second = Scratch.take();
  const [one, two] = [first.outputFile(1), second.outputFile(1)];
  expect(dirname(one)).not.toBe(dirname(two));
  writeFileSync(two, 'name=value\n');
  await second[Symbol.asyncDispose]();
  expect(existsSync(dirname(two))).toBe(false);

  await first[Symbol.asyncDispose]();
  // Something that the first left running writes now.
  writeFileSync(one, 'name=late\n');
  await using third = Scratch.take();
  expect(dirname(third.outputFile(1))).not.toBe(dirname(one));
  rmSync(dirname(one), { recursive: true });
});

test('an order has its folder in the place of its worker, which also removes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scratch-place-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const removed: string[] = [];
  const place = { folder, remove: async (scratch: string) => void removed.push(scratch) };
  const scratch = Scratch.take(place);
  writeFileSync(join(scratch.emptyFolder(), 'left'), '');
  await scratch[Symbol.asyncDispose]();
  expect(dirname(scratch.folder)).toBe(folder);
  expect(removed).toEqual([scratch.folder]);

  // A cleaner of temporary folders takes the place away.
  rmSync(folder, { recursive: true });
  await Scratch.take(place)[Symbol.asyncDispose]();

  // One that is empty is kept, for this place alone.
  await Scratch.take(place)[Symbol.asyncDispose]();
  await using other = Scratch.take();
  expect(dirname(other.folder)).not.toBe(folder);
});

test('the folder of an order that left nothing is used again, under another name', async () => {
  const first = Scratch.take();
  await first[Symbol.asyncDispose]();
  await using second = Scratch.take();
  expect(dirname(second.outputFile(1))).toBe(dirname(first.outputFile(1)));
  expect(second.outputFile(1)).not.toBe(first.outputFile(1));
});
