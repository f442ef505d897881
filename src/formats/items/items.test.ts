import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NightshiftError } from '../../core/model/errors.ts';
import { describeItems, parseItems } from './items.ts';

function read(content: string | Buffer, file = 'items.csv') {
  const { table, format } = parseItems(Buffer.from(content), file);
  const rows = Array.from({ length: table.rowCount }, (_, row) => table.cells(row));
  return { format, header: table.header, rows };
}

function failure(content: string | Buffer, file: string): string {
  try {
    parseItems(Buffer.from(content), file);
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return `${error.line ?? '-'}: ${error.message} | ${error.hint}`;
  }
  return 'no error';
}

describe('F3 items in many formats', () => {
  const AB = { header: ['a', 'b'], rows: [['1', 'x, y']] };
  test.each([
    ['commas', 'a,b\n1,"x, y"\n', 'items.csv', 'CSV'],
    ['a byte order mark and CRLF', '\uFEFFa,b\r\n1,"x, y"\r\n', 'items.csv', 'CSV'],
    ['blank lines above, between and below', '\n \r\na,b\n\n1,"x, y"\n,\n\n', 'items.csv', 'CSV'],
    ['semicolons', 'a;b\n1;x, y\n\n;\n', 'items.csv', 'CSV with semicolons'],
    ['semicolons and quotes, CRLF', '"a";"b"\r\n1;"x, y"\r\n', 'items.csv', 'CSV with semicolons'],
    ['tabs in a .csv', 'a\tb\n1\tx, y\n', 'items.csv', 'TSV'],
    ['tabs', '\uFEFFa\tb\n1\tx, y', 'items.tsv', 'TSV'],
    ['a pipe without a name', 'a\tb\n1\tx, y', 'standard input', 'TSV'],
    ['an array', ' [{"a": 1, "b": "x, y"}]\n', 'items.json', 'JSON'],
    ['an array from a pipe', '\n[\n{"a": 1,\n "b": "x, y"}]', 'standard input', 'JSON'],
    ['lines', '{"a":1,"b":"x, y"}\n\n', 'items.jsonl', 'JSON lines'],
    ['lines that are called .json', '{"a":1,"b":"x, y"}', 'items.json', 'JSON lines'],
    ['objects over several lines', '{\n  "a": 1,\n  "b": "x, y"\n}\n', 'standard input', 'JSON lines'],
  ])('F3 %s', (_, content, file, format) => {
    expect(read(content, file)).toEqual({ format, ...AB });
  });

  test('F3 a CSV keeps its bytes; empty lines of a single column are no rows, quoted empty cells are', () => {
    const bytes = Buffer.from('\uFEFFa,b\r\n1, "x"\r\n'.replace(' "x"', 'x'));
    expect(parseItems(bytes, 'a.csv').table.bytes).toEqual(bytes);
    expect(read('name\nx\n\ny\n""\n\n').rows).toEqual([['x'], ['y'], ['']]);
  });

  test('F3 a header is no JSON if it is a plain word, has rows below it, or is the name of a .csv column', () => {
    expect(read('name\n', 'standard input').header).toEqual(['name']);
    expect(read('"x"\nnull\n', 'standard input')).toMatchObject({ header: ['x'], rows: [['null']] });
    expect(read('[id],[nullable]\n1,2\n', 'standard input').header).toEqual(['[id]', '[nullable]']);
    expect(read('[nullable]\n1\n', 'standard input').header).toEqual(['[nullable]']);
    expect(read('"x"\n', 'x.csv').header).toEqual(['x']);
  });

  test('F3 a comma in the header decides only if the first row agrees', () => {
    expect(read('Name;Price (EUR, net);Size\na;1,5;2\n').header).toEqual(['Name', 'Price (EUR, net)', 'Size']);
    expect(read('a,b;c\n1,2;3\n').header).toEqual(['a', 'b;c']);
    expect(read('note\nx; y\n').header).toEqual(['note']);
  });

  test('F3 JSON: missing keys and null are empty, lists and objects are JSON text, __proto__ is a key', () => {
    const lines = '{"n":1,"t":null,"l":[{"name":"bug"}]}\n{"t":true,"__proto__":"p","n":1.5}\n{"n":"a\\nb"}';
    expect(read(lines, 'x.jsonl')).toEqual({
      format: 'JSON lines',
      header: ['n', 't', 'l', '__proto__'],
      rows: [
        ['1', '', '[{"name":"bug"}]', ''],
        ['1.5', 'true', '', 'p'],
        ['a\nb', '', '', ''],
      ],
    });
  });

  test.each([
    ['JSON lines called CSV', '{"a":1}\n', 'x.csv', /^1: this is JSON lines, not CSV \| rename it to x\.jsonl$/],
    ['JSON called TSV', '\n[{"a":1}]', 'x.tsv', /^2: this is JSON, not TSV \| rename it to x\.json$/],
    ['CSV called JSON', 'a,b\n', 'x.json', /^1: this is not JSON: it begins with neither/],
    ['a PDF', '%PDF-1.7\n\0', 'x.csv', /this is a PDF, not a table/],
    [
      'a spreadsheet',
      Buffer.from('PK\x03\x04\0\0', 'latin1'),
      'x.xlsx',
      /ZIP archive.*\.xlsx.* \| .*save the table as CSV/,
    ],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0]), 'x.csv.gz', /compressed with gzip.*gunzip/],
    ['HTML', '\n<!DOCTYPE html><p>', 'x.csv', /this is HTML/],
    ['XML', '<?xml version="1.0"?>', 'x.csv', /this is XML/],
    ['text in an array', '[{"a":1},\n"b"]', 'x.json', /^2: item 2 is a string, not an object \| .*\{"name": "a"\}/],
    ['a broken line', '{"a":1}\n{"a":}\n', 'x.jsonl', /^2: item 2 is not valid JSON/],
    ['a torn line', '{"a":1}\n{"a":"', 'x.jsonl', /^2: item 2 is not valid JSON/],
    ['an open array', '[{"a":1}\n', 'x.json', /the array is never closed/],
    ['text after the array', '[{"a":1}]\n]', 'x.json', /^2: there is text after the end/],
    ['a missing comma', '[{"a":1}\n{"a":2}]', 'x.json', /^2: there is no comma between two items/],
    ['a large number', '{"id":12345678901234567890}', 'x.jsonl', /too large to be read exactly \| write it as text/],
    ['a list in an object', '{\n"items":[{"a":1}]}', 'x.json', /one object.*"items" \| .*jq '\.\["items"\]'/],
    ['a cut array', '[\n', 'standard input', /the array is never closed \| add \]/],
    ['a cut object', '{', 'standard input', /^1: item 1 is not valid JSON/],
    ['null', 'null\n', 'standard input', /^1: this is JSON, but it is null, not a list of items \| JSON items are/],
    ['a JSON string', '\n"x"\n\n', 'standard input', /^2: this is JSON, but it is a string/],
    ['words in an array', '[null, true]', 'standard input', /^1: item 1 is null, not an object/],
    ['a binary file', '\x7fELF\0', 'x.csv', /NUL byte.* \| save the table as CSV \(UTF-8\), or give a file in CSV/],
    ['no items', '[]', 'x.json', /there are no items/],
    ['a nameless column', '[{"":1}]', 'x.json', /column 1 has no name/],
    ['a column twice', 'a;a\n1;2', 'x.csv', /^1: the header has "a" twice/],
    ['a ragged row', 'a;b\n1;2\n\n1;2;3', 'x.csv', /^4: this row has 3 cells, but the header has 2 columns.*semicolon/],
    ['an open quote', 'a\tb\n"1\t2', 'x.tsv', /^2: the quotes of a cell do not end at the next tab/],
    ['a mistake below blank lines', '\n\na,b\n1', 'x.csv', /^4: this row has 1 cell/],
  ])('F3 %s is refused with the right word', (_, content, file, expected) => {
    expect(failure(content, file)).toMatch(expected);
  });

  test('F3 any cells come back from TSV, semicolons, JSON and JSON lines', () => {
    // What a cell of a file can hold; a text of only white space would make a blank line.
    const cell = fc.string({ unit: 'grapheme' }).map((text) => `x${text.replace(/[\0\r]/g, '')}`);
    const table = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 });
    const quoted = (rows: string[][], separator: string) =>
      rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(separator)).join('\n');
    fc.assert(
      fc.property(table, (rows) => {
        const all = [['a', 'b'], ...rows];
        const objects = rows.map(([a, b]) => ({ a, b }));
        for (const text of [
          quoted(all, '\t'),
          quoted(all, ';'),
          JSON.stringify(objects, undefined, 1),
          objects.map((each) => JSON.stringify(each)).join('\n'),
        ]) {
          expect(read(text, 'standard input').rows).toEqual(rows);
        }
      }),
    );
  });

  test('F3 it says in words what it understood', () => {
    expect(describeItems(parseItems(Buffer.from('name;size\na;1\n'), 'x.csv'))).toBe(
      '1 row, columns: name, size (CSV with semicolons)',
    );
    expect(describeItems(parseItems(Buffer.from('name\n'), 'x.csv'))).toBe('0 rows, column: name');
    const wide = Array.from({ length: 15 }, (_, i) => `c${i}`).join(',');
    expect(describeItems(parseItems(Buffer.from(`${wide}\n`), 'x.csv'))).toMatch(/c11 and 3 more$/);
  });
});
