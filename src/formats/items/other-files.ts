import { NightshiftError } from '../../core/model/errors.ts';

interface OtherFile {
  readonly begins: string | RegExp;
  readonly what: string;
  readonly hint: string;
}

const SAVE_AS_CSV = 'open it in its own program and save the table as CSV (UTF-8)';

/** Files that are often taken for tables, by their first bytes. */
const OTHER_FILES: readonly OtherFile[] = [
  { begins: '%PDF-', what: 'a PDF', hint: 'copy its table into a CSV file' },
  { begins: 'PK\x03\x04', what: 'a ZIP archive, as .xlsx and .ods files are', hint: SAVE_AS_CSV },
  { begins: '\xd0\xcf\x11\xe0', what: 'an old Excel or Word file', hint: SAVE_AS_CSV },
  { begins: '\x1f\x8b', what: 'compressed with gzip', hint: 'unpack it with gunzip first' },
  { begins: 'SQLite format 3', what: 'an SQLite database', hint: 'sqlite3 -header -csv FILE "select ..." writes CSV' },
  { begins: 'PAR1', what: 'a Parquet file', hint: SAVE_AS_CSV },
  { begins: '\x89PNG', what: 'an image', hint: 'list the names of your images in a CSV file' },
  { begins: '\xff\xd8\xff', what: 'an image', hint: 'list the names of your images in a CSV file' },
  { begins: /^\s*<(!doctype\s+html|html|head|body|table)\b/i, what: 'HTML', hint: 'save its table as CSV' },
  { begins: /^\s*<(\?xml|[a-z][\w:-]*[\s/>])/i, what: 'XML', hint: 'convert it to CSV or JSON' },
];

/** More than the longest beginning above, with some blank lines. */
const LOOK = 512;

/** Throws for a file that is no table, in words that say what it is. */
export function refuseOtherFile(bytes: Buffer, file: string): void {
  const begin = bytes.toString('latin1', 0, LOOK).replace(/^\xef\xbb\xbf/, '');
  const other = OTHER_FILES.find(({ begins }) => {
    return typeof begins === 'string' ? begin.startsWith(begins) : begins.test(begin);
  });
  if (other) throw new NightshiftError('bad-table', `this is ${other.what}, not a table`, other.hint, { file });
}
