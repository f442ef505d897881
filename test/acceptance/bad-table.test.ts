import { rmSync } from 'node:fs';
import { describe } from 'vitest';
import { check, LONG, type Mistake, setEnv, setTable, TABLE } from '../mistakes.ts';

describe('F3 a table that is none', () => {
  check({
    'no table': {
      make: (shift, project) => rmSync(project.path(shift.folder, 'table.csv')),
      says: /table\.csv is missing/,
      advises: /restore it/,
      at: 'table.csv',
    },
    'an empty file': {
      make: setTable(''),
      says: /no header/,
      advises: /column names/,
      at: 'table.csv:1',
    },
    'a header without names': {
      make: setTable('name,,make_page\na,1,todo\n'),
      says: /column 2 has no name/i,
      advises: /name it/i,
      at: 'table.csv:1',
    },
    'rows without a header': {
      make: setTable('a,1,todo\nb,2,todo\n'),
      says: /no column make_page/,
      advises: /first line/,
      at: 'table.csv:1',
    },
    'an unclosed quote': {
      make: setTable('name,size,make_page\na,1,todo\n"b,2,todo\nc,3,todo\n'),
      says: /opens on this line and is never closed/i,
      advises: /closing quote/,
      at: 'table.csv:3',
    },
    'a quote in the middle': {
      make: setTable('name,size,make_page\n5" pipe,1,todo\n'),
      says: /double quote in the middle/,
      advises: /"5"" pipe"/,
      at: 'table.csv:2',
    },
    'a NUL byte': {
      make: setTable('name,size,make_page\na,1,todo\nb\0,2,todo\n'),
      says: /NUL/,
      advises: /restore it/i,
      at: 'table.csv:3',
    },
    'UTF-16 with a mark': {
      make: setTable(Buffer.from(`\ufeff${TABLE}`, 'utf16le')),
      says: /UTF-16/,
      advises: /iconv -f UTF-16 -t UTF-8/,
      at: 'table.csv:1',
    },
    'UTF-16 without a mark': {
      make: setTable(Buffer.from(TABLE, 'utf16le')),
      says: /UTF-16/,
      advises: /iconv -f UTF-16LE -t UTF-8/,
      at: 'table.csv:1',
    },
    'latin-1': {
      make: setTable(Buffer.from('name,size,make_page\na,1,todo\nGr\xfc\xdfe,2,todo\n', 'latin1')),
      says: /not valid UTF-8/,
      advises: /iconv -f WINDOWS-1252 -t UTF-8/,
      at: 'table.csv:3',
    },
    'a cell of 20 MB': {
      make: setTable(`name,size,make_page\na,1,todo\n${'b'.repeat(20 * 1024 * 1024)},2,todo\n`),
      says: /cell of 20 MiB in column "name"; the limit is 1 MiB/,
      advises: /files/,
      at: 'table.csv:3',
    },
    'a table that does not pass, given to create': {
      make: (_, project) => project.write('items.csv', 'name,name\na,b\n'),
      args: ['create', 'other', '--from', 'items.csv'],
      says: /"name" twice/,
      advises: /rename or remove/i,
      at: '../../items.csv:1',
    },
    'a table that is not there, given to create': {
      args: ['create', 'other', '--from', 'items.csv'],
      says: /items\.csv is missing/,
      advises: /check the name/,
      at: '../../items.csv',
    },
    'a file name of 4 KB': {
      args: ['create', 'other', '--from', LONG],
      says: /name.* too long/,
      advises: /shorter/,
      at: `../../${LONG}`,
    },
  });
});

describe('F7 .env', () => {
  const bad = (text: string | Buffer, says: RegExp, advises: RegExp, line: number): Mistake => ({
    make: setEnv(text),
    says,
    advises,
    at: `.env:${line}`,
  });
  check({
    'a line that is none': bad('A=1\ns3cret-value\n', /this line is not KEY=VALUE/, /in quotes; begin a comment/, 2),
    'a name that is none': bad('s3cret value=1\n', /does not begin with the name of a variable/, /letters, digits/, 1),
    'a reserved name': bad('A=1\n\nNIGHTSHIFT_KEY=s3cret\n', /NIGHTSHIFT_KEY.*reserved/, /choose another/, 3),
    'text behind a quote': bad('A="s3cret"s3cret"\n', /after the closing quote/, /another kind of quotes/, 1),
    'a NUL byte': bad('A=s3cret\nB=s3cret\0\n', /NUL/, /remove the NUL/, 2),
    'not UTF-8': bad(Buffer.from('A=1\nB=s3cret\xfc\n', 'latin1'), /not UTF-8/, /save it as UTF-8/, 2),
  });
});
