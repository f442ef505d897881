import { describe, expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { STATUSES } from '../core/model/status.ts';
import { addColumns, addRows, createTable, editCells, parseTable, readStatuses } from './table.ts';

const BOM = '\uFEFF';

function parse(source: string | Buffer) {
  return parseTable(typeof source === 'string' ? Buffer.from(source) : source, 'table.csv');
}

function errorOf(run: () => unknown): NightshiftError {
  try {
    run();
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('parseTable', () => {
  test('F3 reads cells, rows and lines of RFC 4180 with mixed line ends and a BOM', () => {
    const table = parse(`${BOM}"name",note,build\r\n"a, b","say ""hi""\r\nthere",todo\nünï,,"done"`);
    expect(table.header).toEqual(['name', 'note', 'build']);
    expect(table.rowCount).toBe(2);
    expect(table.cells(0)).toEqual(['a, b', 'say "hi"\r\nthere', 'todo']);
    expect(table.cells(1)).toEqual(['ünï', '', 'done']);
    expect(table.cell(1, table.columnOf('build'))).toBe('done');
    expect(table.columnOf('Build')).toBe(-1);
    expect(table.rowBytes(1).toString()).toBe('ünï,,"done"');
    expect([-1, 0, 1].map((row) => table.lineOf(row))).toEqual([1, 2, 4]);
    expect(() => table.cells(2)).toThrow(RangeError);
    expect(() => table.cell(0, 3)).toThrow(RangeError);
  });

  test('F3 a blank line is an empty value where there is one column', () => {
    const table = parse('url\r\n\r\nx\r\n\n');
    expect([0, 1, 2].map((row) => table.cells(row))).toEqual([[''], ['x'], ['']]);
  });

  test('F3 reads many rows', () => {
    const table = createTable(
      ['id'],
      Array.from({ length: 5000 }, (_, i) => [`${i}`]),
    );
    expect(table.rowCount).toBe(5000);
    for (let row = 0; row < 5000; row++) expect(table.cell(row, 0)).toBe(`${row}`);
  });

  const long = 'x'.repeat(1024 * 1024 + 1);
  test.each<[string, string | Buffer, number | undefined, RegExp, RegExp]>([
    ['an empty file', '', 1, /no header/, /column names/],
    ['only a BOM', BOM, 1, /no header/, /column names/],
    ['a blank first line', '\na,b\n', 1, /column 1 has no name/, /name it/],
    ['a blank name', 'a, ,c\n', 1, /column 2 has no name/, /remove the column/],
    ['a duplicate header', 'a,b,"a"\n', 1, /"a" twice: columns 1 and 3/, /rename/],
    ['too many columns', Array.from({ length: 2001 }, (_, i) => i).join(), 1, /more than 2000/, /line breaks/],
    ['a row that is too short', 'a,b\n"1\n1",2\n3\n', 4, /has 1 cell, but the header has 2 columns/, /commas/],
    ['a row that is too long', 'a,b\n1,2,3\n', 2, /has 3 cells, but the header has 2 columns/, /double quotes/],
    ['an unclosed quote', 'a,b\n1,"2\n3,4\n', 2, /never closed/, /closing quote/],
    ['a stray quote', 'a,b\n1,2\n5" pipe,4\n', 3, /middle of a cell/, /twice/],
    ['text after a quote', 'a,b\n"1" ,2\n', 2, /closing quote of a cell and the next comma/, /twice/],
    ['text after a late quote', 'a,b\n"1,2\n3,"4\n', 3, /closing quote of a cell/, /opens in line 2/],
    ['a lone CR', 'a,b\n1,2\n3\r,4\n', 3, /without its line feed/, /CRLF/],
    ['line ends of an old Mac', 'a,b\r1,2\r', 1, /without its line feed/, /CRLF/],
    ['semicolons', 'a;b\n1;2\n', 1, /separated by semicolons, not by commas/, /with commas/],
    ['semicolons, and a comma in a cell', '"a";b\n1,5;2\n', 1, /separated by semicolons/, /with commas/],
    ['tabs', 'a\tb\n1\t2\n', 1, /separated by tabs/, /with commas/],
    ['a merge conflict', 'a,b\n1,2\n<<<<<<< HEAD\n3,4\n=======\n3,5\n>>>>>>> x\n', 3, /merge conflict/, /one side/],
    ['a NUL byte', 'a,b\n1,2\n\0,4\n', 3, /NUL/, /backup/],
    ['UTF-16 with a BOM', Buffer.from(`${BOM}a,b\n`, 'utf16le'), 1, /UTF-16/, /iconv -f UTF-16 -t UTF-8/],
    ['UTF-16 without a BOM', Buffer.from('a,b\n', 'utf16le'), 1, /UTF-16/, /iconv -f UTF-16LE/],
    ['Latin-1', Buffer.from('a,b\nx,1\ncafé,2\n', 'latin1'), 3, /not valid UTF-8/, /WINDOWS-1252/],
    ['Latin-1 in the last line', Buffer.from('a\ncafé', 'latin1'), 2, /not valid UTF-8/, /WINDOWS-1252/],
    ['a huge cell', `a,b\n1,${long}\n`, 2, /cell of 1.1 MiB in column "b"/, /files/],
    ['a huge quoted cell', `a,b\n1,"${long}"\n`, 2, /cell of 1.1 MiB in column "b"/, /closing quote/],
  ])('F6 refuses %s with the place and what to do', (_, source, line, message, hint) => {
    const error = errorOf(() => parse(source));
    expect(error).toMatchObject({ code: 'bad-table', file: 'table.csv', line });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });

  test('F6 a cell at the limit is fine', () => {
    expect(parse(`a\n${long.slice(1)}\n`).cell(0, 0)).toHaveLength(1024 * 1024);
  });
});

test('T7 rows with the same text in the columns of their identity have the same hash, however they are quoted', () => {
  const table = parse(
    'a,b,t\nx,"say ""hi""",todo\n"x","say ""hi""","done"\nxs,"ay ""hi""",todo\n"x","say ""hi","todo"\n',
  );
  const [first, ...others] = [0, 1, 2, 3].map((row) => table.hash(row, [true, true, false]));
  expect(others.map((hash) => hash === first)).toEqual([true, false, false]);
});

describe('readStatuses', () => {
  const spellings = ['', 'done', '"done"', '"a,b"', '"say ""x"""', '"a\nb"', '","'];
  const around = spellings.flatMap((before) => spellings.map((after) => [before, after]));

  test.each([0, 1, 2])('F3 a status in column %i is found, however the cells beside it are quoted', (column) => {
    const others = ['a', 'b', 'c'].filter((_, i) => i !== column);
    const line = (cells: readonly string[], status: string) => cells.toSpliced(column, 0, status).join(',');
    const rows = around.flatMap((cells) => [line(cells, 'failed'), line(cells, '"qa"')]);
    const table = parse(`${others.toSpliced(column, 0, 's').join(',')}\n${rows.join('\n')}\n`);
    const found = [...readStatuses(table, column, 'table.csv')].map((index) => STATUSES[index]);
    expect(found).toEqual(around.flatMap(() => ['failed', 'qa']));
  });

  test('F3 reads bare and quoted statuses of the column that it is told', () => {
    const table = parse('id,t\r\ntodo,todo\r\n"x,",in_progress\r\n,"qa"\r\n1,done\r\n2,"failed"');
    expect([...readStatuses(table, 1, 'table.csv')].map((index) => STATUSES[index])).toEqual([...STATUSES]);
  });

  test('F6 a status that nobody has written is todo', () => {
    const table = parse('id,t\n1,\n2,""\n3,"  "\n4,done\n');
    expect([...readStatuses(table, 1, 'table.csv')].map((index) => STATUSES[index])).toEqual([
      ...Array(3).fill('todo'),
      'done',
    ]);
  });

  test.each([
    ['Done', 'the unknown status "Done"', 'write it as "done"'],
    [' todo', 'the unknown status " todo"', 'write it as "todo"'],
    ['tod', 'the unknown status "tod"', 'take it out of the Task Order'],
    ['dodo', 'the unknown status "dodo"', 'take it out of the Task Order'],
  ])('F6 an unknown status %j is refused with row, column, line and the five that exist', (value, message, hint) => {
    const table = parse(`id,build\n"two\nlines",todo\n2,${value}\n`);
    const error = errorOf(() => readStatuses(table, 1, 'table.csv'));
    expect(error).toMatchObject({ code: 'bad-table', file: 'table.csv', line: 4 });
    expect(error.message).toBe(`row 2 has ${message} in column "build"`);
    expect(error.hint).toContain('todo, in_progress, qa, done, failed');
    expect(error.hint).toContain(hint);
  });
});

describe('lines without a value', () => {
  const source = 'a,b\r\n,\r\n"x\ny",1\r\n\r\n,,,\r\n"",2\r\n"",""\r\n,';

  test('F6 are no rows, wherever they stand and however many commas they have', () => {
    const table = parse(source);
    expect([0, 1, 2].map((row) => [table.lineOf(row), ...table.cells(row)])).toEqual([
      [3, 'x\ny', '1'],
      [7, '', '2'],
      [8, '', ''],
    ]);
    expect(table.rowCount).toBe(3);
  });

  test('F5 stay where they are when cells, rows and columns are written', () => {
    const edited = editCells(parse(source), [
      { row: 0, column: 0, value: 'x' },
      { row: 1, column: 1, value: '' },
    ]);
    const text = 'a,b\r\n,\r\n"x",1\r\n\r\n,,,\r\n"",\r\n"",""\r\n,';
    expect(edited.bytes.toString()).toBe(text);
    const longer = addRows(edited, [['', '']]);
    expect([longer.bytes.toString(), longer.rowCount]).toEqual([`${text}\r\n"",`, 4]);
    const wider = addColumns(longer, [{ name: 'c', value: 'z' }]);
    expect(wider.bytes.toString()).toBe('a,b,c\r\n,\r\n"x",1,z\r\n\r\n,,,\r\n"",,z\r\n"","",z\r\n,\r\n"",,z');
    expect(wider.cells(3)).toEqual(['', '', 'z']);
  });
});

describe('edits', () => {
  const source = `${BOM}"id",note,build\r\n"1","a ""b""","todo"\n 2 ,"x,y",todo\r\n3,,todo`;

  test('F5 a cell keeps its quotes, and every other byte stays', () => {
    const edited = editCells(parse(source), [
      { row: 2, column: 2, value: 'qa' },
      { row: 0, column: 2, value: 'failed' },
      { row: 0, column: 2, value: 'in_progress' },
      { row: 1, column: 2, value: 'done' },
      { row: 2, column: 1, value: 'a "q", and\nmore' },
      { row: 1, column: 1, value: 'x,y' },
    ]);
    expect(edited.bytes.toString()).toBe(
      `${BOM}"id",note,build\r\n"1","a ""b""","in_progress"\n 2 ,"x,y",done\r\n3,"a ""q"", and\nmore",qa`,
    );
  });

  test('F5 a new column is appended to header and rows, before each line end', () => {
    const wider = addColumns(parse(source), [
      { name: 'deploy', value: 'todo' },
      { name: 'a,b', value: '' },
    ]);
    expect(wider.bytes.toString()).toBe(
      `${BOM}"id",note,build,deploy,"a,b"\r\n"1","a ""b""","todo",todo,\n 2 ,"x,y",todo,todo,\r\n3,,todo,todo,`,
    );
    expect(wider.header).toEqual(['id', 'note', 'build', 'deploy', 'a,b']);
    expect(() => addColumns(wider, [{ name: 'deploy', value: 'todo' }])).toThrow(/already has a column "deploy"/);
  });

  test.each([
    ['a\r\n1\r\n', 'a\r\n1\r\n2\r\n""\r\n'],
    ['a\r\n1', 'a\r\n1\r\n2\r\n""'],
    ['a', 'a\n2\n""'],
    ['a\n', 'a\n2\n""\n'],
  ])('F5 rows are appended to %j in its own style', (before, after) => {
    expect(addRows(parse(before), [['2'], ['']]).bytes.toString()).toBe(after);
  });

  test('F5 an emptied cell of a single column does not become a blank line, and an unchanged one is left alone', () => {
    const table = parse('a\n\nx\n');
    expect(editCells(table, [{ row: 1, column: 0, value: '' }]).bytes.toString()).toBe('a\n\n""\n');
    expect(editCells(table, [{ row: 0, column: 0, value: '' }])).toBe(table);
  });

  test('F5 many edits, one after the other, give what a fresh reading would', () => {
    const count = 1200;
    const rows = Array.from({ length: count }, (_, i) => `${i},"a ""${i}""",todo`);
    let table = parse(`id,note,build\r\n${rows.join('\r\n')}`);
    const before = table;
    for (let turn = 0; turn < count; turn++) {
      // All over the table; each row is edited by now and then, and some twice.
      const row = (turn * 7919) % count;
      table = editCells(table, [{ row, column: 2, value: turn % 2 === 0 ? 'in_progress' : 'qa' }]);
      rows[row] = `${row},"a ""${row}""",${turn % 2 === 0 ? 'in_progress' : 'qa'}`;
      if (turn % 3 > 0) continue;
      table = editCells(table, [{ row, column: 1, value: `x,${turn}` }]);
      rows[row] = rows[row]!.replace(/".*"/, `"x,${turn}"`);
    }
    expect(Buffer.concat(table.pieces()).toString()).toBe(`id,note,build\r\n${rows.join('\r\n')}`);
    expect(table.pieces().length).toBeLessThanOrEqual(1024);
    for (let row = 0; row < count; row++) expect(table.rowBytes(row).toString()).toBe(rows[row]);
    expect(before.cells(7)).toEqual(['7', 'a "7"', 'todo']);
    expect(readStatuses(table, 2, 'table.csv')).toEqual(readStatuses(parse(table.bytes), 2, 'table.csv'));
  });

  test('F6 nothing is written that could not be read again', () => {
    const table = parse('a,b\n1,2\n');
    const write = (value: string) => () => editCells(table, [{ row: 0, column: 1, value }]);
    expect(errorOf(write('x\0y')).message).toMatch(/column "b" contains a NUL/);
    expect(errorOf(write('"'.repeat(600_000))).message).toMatch(/too long for column "b"/);
    expect(() => createTable(['a', 'a'], [])).toThrow(/twice/);
    expect(() => addRows(table, [['1']])).toThrow(RangeError);
  });

  test('F3 a new table has LF, a final line end, and quotes only where they are needed', () => {
    const table = createTable(
      ['id', 'my "note"'],
      [
        ['1', ' a '],
        ['2', 'b,c\r'],
      ],
    );
    expect(table.bytes.toString()).toBe('id,"my ""note"""\n1, a \n2,"b,c\r"\n');
    expect(createTable([`${BOM}a`], [['']]).header).toEqual([`${BOM}a`]);
  });
});
