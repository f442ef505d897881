import { expect, test } from 'vitest';
import { Screen } from '../../test/screen.ts';
import { LiveBlock } from './terminal.ts';

test('X8 lines above scroll away, the block is redrawn in place, and nothing else is touched', () => {
  const screen = new Screen(10).write('$ start\n');
  const block = new LiveBlock();
  screen.write(block.draw([], ['bar 1', 'item a', 'item b'], 10));
  expect(screen.text).toBe('$ start\nbar 1\nitem a\nitem b');
  screen.write(block.draw(['row 1: done, and a long line'], ['bar 2', 'item b'], 10));
  expect(screen.text).toBe('$ start\nrow 1: don\ne, and a l\nong line\nbar 2\nitem b');
  screen.write(block.draw([], ['bar 2'], 10));
  expect(screen.text).toBe('$ start\nrow 1: don\ne, and a l\nong line\nbar 2');
  screen.write(block.draw([], ['bar 3', 'x', 'y', 'z'], 10));
  expect(screen.text).toBe('$ start\nrow 1: don\ne, and a l\nong line\nbar 3\nx\ny\nz');
  screen.write(`${block.clear(10)}All done.\n`);
  expect(screen.text).toBe('$ start\nrow 1: don\ne, and a l\nong line\nAll done.');
});

test('X8 what has not changed is not written again', () => {
  const block = new LiveBlock();
  block.draw([], ['bar', 'a', 'b'], 80);
  expect(block.draw([], ['bar', 'a', 'b'], 80)).toBe('');
  expect(block.draw([], ['bar', 'c', 'b'], 80)).not.toContain('bar');
});

test('X8 what was printed while there is no block stays', () => {
  const screen = new Screen(20);
  const block = new LiveBlock();
  screen.write(block.draw(['warning: one'], [], 20)).write(block.draw(['warning: two'], [], 20));
  screen.write(block.draw([], ['bar'], 20));
  expect(screen.text).toBe('warning: one\nwarning: two\nbar');
});

test('X8 a window that became narrower has wrapped the block: all of it is replaced', () => {
  const block = new LiveBlock();
  block.draw([], ['a line of 20 columns', 'same', 'end'], 40);
  const screen = new Screen(10).write('above\na line of 20 columns\nsame\nend');
  screen.write(block.draw([], ['narrow', 'same', 'end'], 10));
  expect(screen.text).toBe('above\nnarrow\nsame\nend');
});
