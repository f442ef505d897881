import { expect, test } from 'vitest';
import { LiveBlock } from './terminal.ts';

/** What a terminal makes of the bytes: printing, line feeds (with carriage return), cursor up and right, erasing lines. */
class Screen {
  rows: string[] = [''];
  #row = 0;
  #column = 0;
  readonly #columns: number;

  constructor(columns: number) {
    this.#columns = columns;
  }

  write(text: string): this {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as a terminal reads
    for (const [token, amount, command] of text.matchAll(/\u001b\[(\d*)([A-Za-z])|[\s\S]/g)) {
      if (command === 'A') this.#row -= Number(amount);
      else if (command === 'C') this.#column += Number(amount);
      else if (command === 'K') this.#set(amount === '2' ? '' : this.#line.slice(0, this.#column));
      else if (command === 'm') continue;
      else if (command !== undefined) throw new Error(`not calm: ${JSON.stringify(token)}`);
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#feed();
      else this.#put(token);
    }
    if (this.#row < 0) throw new Error('above its own lines');
    return this;
  }

  get #line(): string {
    return this.rows[this.#row]!;
  }

  #set(line: string): void {
    this.rows[this.#row] = line;
  }

  #feed(): void {
    this.#row++;
    this.#column = 0;
    this.rows[this.#row] ??= '';
  }

  #put(character: string): void {
    if (this.#column === this.#columns) this.#feed();
    this.#set(
      `${this.#line.padEnd(this.#column).slice(0, this.#column)}${character}${this.#line.slice(this.#column + 1)}`,
    );
    this.#column++;
  }

  get text(): string {
    return this.rows.join('\n').trimEnd();
  }
}

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
  block.draw([], ['a line of 20 columns', 'short'], 40);
  const screen = new Screen(10).write('above\na line of 20 columns\nshort');
  screen.write(block.draw([], ['narrow', 'short'], 10));
  expect(screen.text).toBe('above\nnarrow\nshort');
});
