import { describe, expect, test } from 'vitest';
import { EventQueue } from './event-queue.ts';

async function readAll<T>(queue: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const value of queue) read.push(value);
  return read;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('EventQueue', () => {
  test('the first reader gets what was pushed before it began, and loses nothing however slow it is', async () => {
    const queue = new EventQueue<number>();
    queue.push(1);
    queue.push(2);
    const reading = (async () => {
      const read: number[] = [];
      for await (const value of queue) {
        read.push(value);
        await turn();
      }
      return read;
    })();
    for (let value = 3; value <= 500; value++) queue.push(value);
    await turn();
    queue.push(501);
    queue.close();
    expect(await reading).toEqual(Array.from({ length: 501 }, (_, index) => index + 1));
  });

  test('a reader that waits gets the next value at once, and several questions are answered in order', async () => {
    const queue = new EventQueue<string>();
    const reader = queue[Symbol.asyncIterator]();
    const asked = [reader.next(), reader.next(), reader.next()];
    queue.push('a');
    queue.push('b');
    queue.close();
    expect(await Promise.all(asked)).toEqual([
      { value: 'a', done: false },
      { value: 'b', done: false },
      { value: undefined, done: true },
    ]);
  });

  test('a reader that stops early is forgotten; another one reads on, and a later one begins where the queue is', async () => {
    const queue = new EventQueue<{ readonly number: number }>();
    const other = queue[Symbol.asyncIterator]();
    queue.push({ number: 1 });
    const stopped = queue[Symbol.asyncIterator]();
    queue.push({ number: 2 });
    expect((await stopped.next()).value).toEqual({ number: 2 });
    await stopped.return!();
    queue.push({ number: 3 });
    expect(await stopped.next()).toEqual({ value: undefined, done: true });
    const late = readAll(queue);
    queue.push({ number: 4 });
    queue.close();
    expect(await late).toEqual([{ number: 4 }]);
    const left: unknown[] = [];
    for (let each = await other.next(); !each.done; each = await other.next()) left.push(each.value);
    expect(left).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }, { number: 4 }]);
  });

  test('values are let go of: without a reader beyond the last 10,000, and after a reader that stopped', async () => {
    const unread = new EventQueue<number>();
    for (let value = 0; value < 50_000; value++) unread.push(value);
    unread.close();
    const read = await readAll(unread);
    expect([read.length, read.at(-1)]).toEqual([10_000, 49_999]);

    const left = new EventQueue<number>();
    left.push(1);
    for await (const value of left) {
      expect(value).toBe(1);
      break;
    }
    left.push(2);
    left.close();
    expect(await readAll(left)).toEqual([]);
  });

  test('an error is thrown after the last value, to those who read then and to those who come later', async () => {
    const queue = new EventQueue<number>();
    const reader = queue[Symbol.asyncIterator]();
    queue.push(1);
    const failure = new Error('the disk is full');
    queue.close({ error: failure });
    expect(await reader.next()).toEqual({ value: 1, done: false });
    await expect(reader.next()).rejects.toBe(failure);
    expect(await reader.next()).toEqual({ value: undefined, done: true });
    await expect(readAll(queue)).rejects.toBe(failure);
  });
});
