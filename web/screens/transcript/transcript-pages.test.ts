import { expect, test } from 'vitest';
import { type LoadedPart, offsetAfter } from './transcript-pages.ts';

/** A file of entries of `length` bytes, one each second, of which 256 kB are read at once. */
function fileOf(count: number, length: number) {
  const entries = Array.from({ length: count }, (_, number) => ({
    offset: number * length,
    line: { kind: 'text', text: '', role: 'dev', at: new Date(number * 1000).toISOString() } as const,
  }));
  let reads = 0;
  const read = async (from: number): Promise<LoadedPart> => {
    reads += 1;
    const first = Math.ceil(from / length);
    const part = entries.slice(first, first + Math.ceil(256_000 / length));
    const start = first * length;
    return { from: start, to: start + part.length * length, size: count * length, entries: part };
  };
  return { read, size: count * length, reads: () => reads };
}

const time = (seconds: number) => new Date(seconds * 1000).toISOString();

test('the end of an attempt is found in a transcript of 50 MB with a few reads', async () => {
  const file = fileOf(50_000, 1000);
  for (const second of [0, 1, 255, 24_999, 31_337, 49_998]) {
    expect(await offsetAfter(time(second), file.size, file.read)).toBe((second + 1) * 1000);
  }
  expect(file.reads()).toBeLessThan(6 * 10);
});

test('nothing after the time, an empty file, and entries larger than what is read at once', async () => {
  const file = fileOf(2000, 1000);
  expect(await offsetAfter(time(1999), file.size, file.read)).toBeUndefined();
  expect(await offsetAfter(time(5), 0, fileOf(0, 1000).read)).toBeUndefined();
  const large = fileOf(20, 1_000_000);
  expect(await offsetAfter(time(7), large.size, large.read)).toBe(8_000_000);
  expect(await offsetAfter(time(7), large.size, async () => undefined)).toBeUndefined();
});
