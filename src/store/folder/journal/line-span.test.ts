import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LineSpan, lineStart, linesBefore, linesFrom } from './line-span.ts';

async function fileOf(text: string): Promise<FileHandle> {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-lines-'));
  writeFileSync(join(folder, 'lines'), text);
  const handle = await open(join(folder, 'lines'));
  onTestFinished(async () => {
    await handle.close();
    rmSync(folder, { recursive: true });
  });
  return handle;
}

const textsOf = ({ lines }: LineSpan) => lines.map(({ bytes }) => bytes.toString());

test('S13 every line is read once, in both directions, whatever the size of a part', async () => {
  const lines = ['a', '', 'a longer line', 'ä'.repeat(40), 'b', 'x'.repeat(99)];
  const handle = await fileOf(`${lines.join('\n')}\nhalf a li`);
  const size = Buffer.byteLength(`${lines.join('\n')}\n`);
  for (const most of [1, 2, 3, 7, 64, 1000]) {
    const forwards: string[] = [];
    for (let at = 0, moved = true; moved; ) {
      const span = await linesFrom(handle, at, most);
      forwards.push(...textsOf(span));
      moved = span.to > at;
      at = span.to;
      if (!moved) expect(at).toBe(size);
    }
    expect(forwards).toEqual(lines);
    const backwards: string[] = [];
    for (let at = size + 9; at > 0; ) {
      const span = await linesBefore(handle, at, most);
      backwards.unshift(...textsOf(span));
      at = span.from;
    }
    expect(backwards).toEqual(lines);
  }
});

test('S13 an offset inside of a line leads to the next line', async () => {
  const handle = await fileOf('one\ntwo\nthree\n');
  expect(await Promise.all([-1, 0, 1, 4, 5, 8, 14, 99].map((at) => lineStart(handle, at)))).toEqual([
    0, 0, 4, 4, 8, 8, 14, 98,
  ]);
});
