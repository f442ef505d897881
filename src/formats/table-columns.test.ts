import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ColumnChange } from '../core/model/table-edit.ts';
import { changeColumns, parseTable, removeRows, type Table } from './table.ts';

const letter = fc.constantFrom('a', 'b', ' ', ',', '"', '\n', '\r\n', 'é', '漢', '😀', '\uFEFF', ';');
const value = fc.string({ unit: letter, maxLength: 5 });

/** A line as somebody might have written it: the sources of its cells, or a blank one with so many commas. */
type Line = { readonly cells: readonly string[]; readonly lineEnd: string } | { readonly blank: string };

interface Written {
  readonly mark: string;
  readonly header: { readonly cells: readonly string[]; readonly lineEnd: string };
  readonly lines: readonly Line[];
  readonly isClosed: boolean;
}

const cell = fc.record({ value, quoted: fc.boolean() }).map(({ value, quoted }) => source(value, quoted));
const lineEnd = fc.constantFrom('\n', '\r\n');

const written: fc.Arbitrary<Written> = fc.integer({ min: 1, max: 4 }).chain((width) => {
  const row = fc
    .record({ cells: fc.array(cell, { minLength: width, maxLength: width }), lineEnd })
    // What has no value is told by the lines that are blank on purpose.
    .map(({ cells, lineEnd }) => ({ cells: /^,*$/.test(cells.join()) ? ['""', ...cells.slice(1)] : cells, lineEnd }));
  const blank = fc.tuple(fc.nat({ max: 3 }), lineEnd).map(([commas, end]) => ({ blank: ','.repeat(commas) + end }));
  const marked = fc
    .tuple(fc.boolean(), fc.boolean())
    .map(([isMarked, quoted]) => source(isMarked ? '\uFEFFc' : 'c', quoted));
  return fc.record({
    mark: fc.constantFrom('', '\uFEFF'),
    header: fc.record({
      cells: fc
        .array(marked, { minLength: width, maxLength: width })
        .map((names) => names.map((name, i) => name.replace('c', `c${i}`))),
      lineEnd,
    }),
    lines: fc.array<Line>(width === 1 ? row : fc.oneof({ weight: 4, arbitrary: row }, blank), { maxLength: 6 }),
    isClosed: fc.boolean(),
  });
});

function source(value: string, quoted: boolean): string {
  return quoted || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

function textOf({ mark, header, lines, isClosed }: Written): string {
  const first =
    mark === '' && header.cells[0]!.startsWith('\uFEFF') ? [`"${header.cells[0]}"`] : header.cells.slice(0, 1);
  const texts = [{ ...header, cells: [...first, ...header.cells.slice(1)] }, ...lines].map((line) =>
    'blank' in line ? line.blank : line.cells.join() + line.lineEnd,
  );
  const text = mark + texts.join('');
  return isClosed || lines.some((line) => 'blank' in line) ? text : text.replace(/\r?\n$/, '');
}

function onRows(written: Written, change: (cells: readonly string[], isHeader: boolean) => string[]): Written {
  const header = { ...written.header, cells: change(written.header.cells, true) };
  const isNarrow = header.cells.length === 1;
  const lines = written.lines.filter((line) => !isNarrow || 'cells' in line);
  return {
    ...written,
    header,
    isClosed: written.isClosed || written.lines.some((line) => 'blank' in line),
    lines: lines.map((line) => ('blank' in line ? line : { ...line, cells: change(line.cells, false) })),
  };
}

function parse(text: string): Table {
  return parseTable(Buffer.from(text), 'table.csv');
}

/** What the edit gave is what a reading of the expected text gives, to the byte and to the offset. */
function expectText(table: Table, text: string): void {
  expect(table.bytes.toString()).toBe(text);
  const fresh = parse(text);
  expect(table.header).toEqual(fresh.header);
  expect([...table.starts]).toEqual([...fresh.starts]);
  for (let row = -1; row < fresh.rowCount; row++) {
    expect(table.cells(row)).toEqual(fresh.cells(row));
    expect(table.lineOf(row)).toBe(fresh.lineOf(row));
  }
}

describe('F5 fast-check: a change of a column touches only its own bytes', () => {
  test('drop', () => {
    fc.assert(
      fc.property(written, fc.nat(), (given, wish) => {
        const table = parse(textOf(given));
        const column = wish % table.header.length;
        const changed = changeColumns(table, { kind: 'drop', name: table.header[column]! });
        if (table.header.length === 1) {
          expect(changed).toBeUndefined();
          return;
        }
        const expected = onRows(given, (cells, isHeader) => {
          const rest = cells.filter((_, i) => i !== column);
          return isHeader || /[^,]/.test(rest.join()) ? rest : withQuotes(cells, column);
        });
        expectText(changed!, textOf(expected));
      }),
      { numRuns: 500 },
    );
  });

  test('rename', () => {
    fc.assert(
      fc.property(written, fc.nat(), value, (given, wish, name) => {
        const table = parse(textOf(given));
        const column = wish % table.header.length;
        const to = `n${name}`;
        const expected = onRows(given, (cells, isHeader) => {
          if (!isHeader) return [...cells];
          const isQuoted =
            cells[column]!.startsWith('"') ||
            /[;\t]/.test(to) ||
            (column === 0 && given.mark === '' && cells[0]!.startsWith('\uFEFF'));
          return cells.map((each, i) => (i === column ? source(to, isQuoted) : each));
        });
        expectText(changeColumns(table, { kind: 'rename', name: table.header[column]!, to })!, textOf(expected));
      }),
      { numRuns: 300 },
    );
  });

  test('add', () => {
    fc.assert(
      fc.property(written, value, (given, text) => {
        const changed = changeColumns(parse(textOf(given)), { kind: 'add', name: 'new', value: text });
        const expected = onRows(given, (cells, isHeader) => {
          return [...cells, isHeader ? 'new' : source(text, text.startsWith('\uFEFF'))];
        });
        expectText(changed!, textOf(expected));
      }),
      { numRuns: 300 },
    );
  });

  test('remove rows', () => {
    fc.assert(
      fc.property(written, fc.array(fc.nat({ max: 6 })), (given, wishes) => {
        const table = parse(textOf(given));
        const rows = new Set(wishes.filter((row) => row < table.rowCount));
        let row = -1;
        const lines = given.lines.filter((line) => 'blank' in line || !rows.has(++row));
        const isClosed = given.isClosed || given.lines.some((line) => 'blank' in line);
        expectText(removeRows(table, rows), textOf({ ...given, lines, isClosed }));
      }),
      { numRuns: 500 },
    );
  });
});

/** The first of the cells that are left, at the place of the one that went. */
function withQuotes(cells: readonly string[], column: number): string[] {
  const rest = cells.filter((_, i) => i !== column);
  const at = Math.max(0, column - 1);
  return rest.map((each, i) => (i === at ? '""' : each));
}

describe('columns', () => {
  const drop = (name: string): ColumnChange => ({ kind: 'drop', name });

  test.each<[string, string, ColumnChange, string]>([
    ['the first, behind a BOM', '\uFEFF"a",b\r\n"1",2\r\n', drop('a'), '\uFEFFb\r\n2\r\n'],
    ['the last, without a final line end', 'a,b\n1,"x\ny"', drop('b'), 'a\n1'],
    ['one that leaves rows without a value', 'a,b,t\n,x,\ny,,\n', drop('b'), 'a,t\n"",\ny,\n'],
    ['one that leaves blank lines in a single column', 'a,b\n\n1,2\n,\n3,4\n', drop('b'), 'a\n1\n3\n'],
    ['blank values of a single column', 'a\n\nx\n', { kind: 'add', name: 'b', value: '' }, 'a,b\n"",\nx,\n'],
    ['a quoted name', 'a,"b"\n1,2\n', { kind: 'rename', name: 'b', to: 'c "d"' }, 'a,"c ""d"""\n1,2\n'],
  ])('F5 %s', (_, before, change, after) => {
    expect(changeColumns(parse(before), change)!.bytes.toString()).toBe(after);
  });

  test('F6 what does not apply changes nothing, and what could not be read again is refused', () => {
    const table = parse('a,b\n1,2\n');
    const changes: ColumnChange[] = [
      { kind: 'add', name: 'a', value: '' },
      { kind: 'rename', name: 'a', to: 'b' },
      { kind: 'rename', name: 'c', to: 'd' },
      drop('c'),
    ];
    expect(changes.map((change) => changeColumns(table, change))).toEqual(changes.map(() => undefined));
    const wide = parse(`${Array.from({ length: 2000 }, (_, i) => `c${i}`).join()}\n`);
    expect(() => changeColumns(wide, { kind: 'add', name: 'new', value: '' })).toThrow(
      "can't have more than 2000 columns",
    );
  });

  test('F5 the last row of a table without a final line end goes with the line end before it', () => {
    expect(removeRows(parse('a,b\r\n1,2\r\n3,4'), new Set([1])).bytes.toString()).toBe('a,b\r\n1,2');
    expect(removeRows(parse('a\n\n1'), new Set([1])).rowCount).toBe(1);
    expect(removeRows(parse('a,b\n1,2\n'), new Set([0])).bytes.toString()).toBe('a,b\n');
  });
});
