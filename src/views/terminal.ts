import { widthOf } from './text-width.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the styles that a renderer put in
const STYLES = /\u001b\[\d+m/g;

/**
 * A few lines at the bottom that are redrawn in place, below lines that scroll as usual. It returns what to write and
 * writes nothing. It moves and erases only within its own lines, so scrollback, selection and everything above stay.
 * It never hides the cursor, so there is nothing to restore after a crash.
 */
export class LiveBlock {
  /** The lines on the screen, with the cursor at the end of the last. */
  #lines: readonly string[] = [];

  /** The bytes that print `above` and then `lines`, in a window of `columns`. Empty if nothing has changed. */
  draw(above: readonly string[], lines: readonly string[], columns: number): string {
    const before = this.#lines;
    // Without a block the cursor waits on an empty line, so that the next one does not overwrite what was printed
    // above.
    const block = lines.length === 0 ? [''] : lines;
    if (above.length === 0 && same(before, block)) return '';
    this.#lines = block;
    const height = heightOf(before, columns);
    // If the window became narrower, lines have wrapped, so all are written again.
    const isWrapped = height !== before.length;
    const next = [...above, ...block].map((line, i) => {
      // The last line is always written, because typed text follows it.
      const isKept = above.length === 0 && !isWrapped && i < block.length - 1 && before[i] === line;
      // Overwritten, not erased first, so that the line is never empty.
      return isKept ? '' : `${line}${ERASE_REST}`;
    });
    const taller = height - heightOf([...above, ...block], columns);
    return `${upTo(height)}${next.join('\n')}${eraseBelow(taller)}${endOf(block)}`;
  }

  /** The bytes that remove the block. */
  clear(columns: number): string {
    const height = heightOf(this.#lines, columns);
    this.#lines = [];
    return height === 0 ? '' : `${upTo(height)}\u001b[2K${eraseBelow(height - 1)}\r`;
  }
}

const ERASE_REST = '\u001b[K';

function upTo(height: number): string {
  return height > 1 ? `\r\u001b[${height - 1}A` : '\r';
}

/** Erases lines of an earlier, taller block and returns to the cursor's line. */
function eraseBelow(lines: number): string {
  return lines > 0 ? `${'\n\r\u001b[2K'.repeat(lines)}\u001b[${lines}A` : '';
}

/** After lines below were erased, the cursor is at the beginning: moves it back to the end of the last line. */
function endOf(lines: readonly string[]): string {
  const width = visibleWidth(lines.at(-1) ?? '');
  return width > 0 ? `\r\u001b[${width}C` : '\r';
}

/** Like terminals that wrap existing lines again when the window changes. */
function heightOf(lines: readonly string[], columns: number): number {
  return lines.reduce((height, line) => height + Math.max(1, Math.ceil(visibleWidth(line) / Math.max(1, columns))), 0);
}

function visibleWidth(line: string): number {
  return widthOf(line.replace(STYLES, ''));
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i]);
}
