import { isUtf8 } from 'node:buffer';
import { parse as oracle } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { addColumns, addRows, editCells, parseTable, type Table } from './table.ts';

/** What csv-parse reads, or undefined where it refuses. A line with nothing but commas is no row. */
function oracleCells(bytes: Buffer): string[][] | undefined {
  try {
    const read = oracle(bytes, {
      bom: true,
      record_delimiter: ['\r\n', '\n'],
      relax_quotes: false,
      relax_column_count: true,
      skip_empty_lines: false,
      raw: true,
    }) as unknown as { raw: string; record: string[] }[];
    const width = read[0]?.record.length ?? 0;
    const isBlank = ({ raw }: { raw: string }) => /^,*\r?\n?$/.test(raw);
    const rows = read.filter((each, i) => i === 0 || width === 1 || !isBlank(each)).map(({ record }) => record);
    return rows.every(({ length }) => length === width) ? rows : undefined;
  } catch {
    return undefined;
  }
}

function allCells(table: Table): string[][] {
  return [[...table.header], ...Array.from({ length: table.rowCount }, (_, row) => table.cells(row))];
}

/** Every accessor of an edited table says what a fresh reading of its bytes says. */
function expectSameAsParsed(table: Table): void {
  const fresh = parseTable(table.bytes, 'fresh.csv');
  expect(allCells(table)).toEqual(allCells(fresh));
  expect(table.rowCount).toBe(fresh.rowCount);
  if (table.edited.size === 0) expect([...table.starts]).toEqual([...fresh.starts]);
  for (let row = -1; row < fresh.rowCount; row++) {
    expect(table.lineOf(row)).toBe(fresh.lineOf(row));
    expect(table.rowBytes(row).equals(fresh.rowBytes(row))).toBe(true);
    expect(table.sameRow(row, fresh, row)).toBe(true);
  }
}

const letter = fc.constantFrom('a', 'b', ' ', ',', '"', '\n', '\r\n', '\r', 'é', '漢', '😀', '\uFEFF', ';', '\t');
const value = fc.string({ unit: letter, maxLength: 6 });

/** A table as somebody might have written it: any quoting, any line ends. */
const written = fc
  .integer({ min: 1, max: 4 })
  .chain((width) =>
    fc.record({
      width: fc.constant(width),
      rows: fc.array(fc.array(fc.record({ value, quoted: fc.boolean() }), { minLength: width, maxLength: width }), {
        maxLength: 6,
      }),
      lineEnds: fc.array(fc.constantFrom('\n', '\r\n'), { minLength: 7, maxLength: 7 }),
      bom: fc.boolean(),
      closed: fc.boolean(),
    }),
  )
  .map(({ width, rows, lineEnds, bom, closed }) => {
    const header = Array.from({ length: width }, (_, i) => `c${i}`);
    const sources = rows.map((cells) => cells.map(({ value, quoted }) => source(value, quoted || width === 1)).join());
    const lines = [header.join(), ...sources];
    const text = lines.map((line, i) => line + (i < rows.length || closed ? lineEnds[i] : '')).join('');
    const items = rows.filter((_, i) => width === 1 || !/^,*$/.test(sources[i]!));
    const cells = [header, ...items.map((row) => row.map((cell) => cell.value))];
    return { bytes: Buffer.from((bom ? '\uFEFF' : '') + text), cells };
  });

function source(value: string, quoted: boolean): string {
  return quoted || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const someBytes = fc
  .oneof(
    fc.array(fc.constantFrom(...Buffer.from('ab,,""\n\n\r\n'), 0xc3, 0xa9, 0xef, 0xbb, 0xbf, 0), { maxLength: 24 }),
    fc.array(fc.constantFrom(...Buffer.from('a,"\n')), { maxLength: 16 }),
  )
  .map((bytes) => Buffer.from(bytes));

/** A good table with something in it replaced, removed or put in. */
const damaged = fc.tuple(written, fc.nat(), fc.nat({ max: 3 }), someBytes).map(([{ bytes }, at, length, piece]) => {
  const start = at % (bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, start), piece.subarray(0, 3), bytes.subarray(start + length)]);
});

test('F3 what somebody wrote is read cell by cell as csv-parse reads it', () => {
  fc.assert(
    fc.property(written, ({ bytes, cells }) => {
      const table = parseTable(bytes, 'table.csv');
      expect(allCells(table)).toEqual(cells);
      expect(oracleCells(bytes)).toEqual(cells);
    }),
    { numRuns: 250 },
  );
});

test('F6 any bytes are either refused or read as csv-parse reads them', () => {
  fc.assert(
    fc.property(fc.oneof(damaged, someBytes), (bytes) => {
      let cells: string[][];
      try {
        cells = allCells(parseTable(bytes, 'table.csv'));
      } catch (error) {
        expect(error).toBeInstanceOf(NightshiftError);
        const read = oracleCells(bytes);
        if (read !== undefined) expect(whyStricter(bytes, read)).toBeDefined();
        return;
      }
      expect(oracleCells(bytes)).toEqual(cells);
    }),
    { numRuns: 500 },
  );
});

/** Where Nightshift refuses on purpose what csv-parse takes. */
function whyStricter(bytes: Buffer, [header]: string[][]): string | undefined {
  if (bytes.includes(0)) return 'NUL byte';
  if (!isUtf8(bytes)) return 'not UTF-8, which csv-parse reads as U+FFFD';
  if (header === undefined) return 'no header';
  if (header.some((name) => name.trim() === '')) return 'column without a name';
  if (new Set(header).size < header.length) return 'duplicate header';
  const bare = bytes.toString().replace(/"(?:[^"]|"")*"/g, '');
  if (bare.replaceAll('\r\n', '').includes('\r')) return 'CR without LF, which csv-parse takes as text';
  return undefined;
}

test('F5 an edit changes its own cells and no other byte, and gives what a fresh reading would', () => {
  const change = fc.record({ row: fc.nat(), column: fc.nat(), value });
  fc.assert(
    fc.property(written, fc.array(change, { maxLength: 5 }), value, ({ bytes, cells }, wishes, extra) => {
      const table = parseTable(bytes, 'table.csv');
      const width = table.header.length;
      const changes = wishes
        .filter(() => table.rowCount > 0)
        .map(({ row, column, value }) => ({ row: row % table.rowCount, column: column % width, value }));
      const expected = cells.map((row) => [...row]);
      for (const { row, column, value } of changes) expected[row + 1]![column] = value;

      const edited = editCells(table, changes);
      expect(allCells(edited)).toEqual(expected);
      expectSameAsParsed(edited);
      expect(skeleton(edited, changes)).toEqual(skeleton(table, changes));
      expect(parseTable(bytes, 'table.csv').bytes.equals(table.bytes)).toBe(true);

      const wider = addColumns(edited, [{ name: 'new', value: extra }]);
      expectSameAsParsed(wider);
      expect(allCells(wider)).toEqual(expected.map((row, i) => [...row, i === 0 ? 'new' : extra]));

      const longer = addRows(edited, [Array(width).fill(extra), Array(width).fill('')]);
      expectSameAsParsed(longer);
      expect(allCells(longer)).toEqual([...expected, Array(width).fill(extra), Array(width).fill('')]);
      expect(longer.bytes.subarray(0, edited.bytes.length).equals(edited.bytes)).toBe(true);
    }),
    { numRuns: 250 },
  );
});

/** The bytes around the changed cells. Found with an own walk over the text, so that it does not trust the offsets. */
function skeleton(table: Table, changes: readonly { row: number; column: number }[]): string[] {
  const changed = new Set(changes.map(({ row, column }) => row * table.header.length + column));
  const text = table.bytes.toString();
  const pieces: string[] = [];
  let kept = 0;
  let cell = -table.header.length;
  const token = /"(?:[^"]|"")*"|[^",\r\n]*/y;
  const blank = /,*(?:\r?\n|$)/y;
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; at <= text.length; cell++) {
    blank.lastIndex = at;
    const isFirst = table.header.length > 1 && cell % table.header.length === 0;
    if (isFirst && at < text.length && blank.test(text)) {
      at = blank.lastIndex;
      cell--;
      continue;
    }
    token.lastIndex = at;
    const [source = ''] = token.exec(text) ?? [];
    if (changed.has(cell)) {
      pieces.push(text.slice(kept, at));
      kept = at + source.length;
    }
    at += source.length;
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  return [...pieces, text.slice(kept)];
}
