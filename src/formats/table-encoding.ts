import { isUtf8 } from 'node:buffer';
import { NightshiftError } from '../core/model/errors.ts';
import { LF, lineAt } from './table-bytes.ts';

const RESTORE = 'restore it from version control or a backup, or save it again as CSV (UTF-8)';

/**
 * Throws unless the bytes are UTF-8 text. Spreadsheets save other encodings, so the error says how to convert.
 * `binaryHint`: what to do about a file that is no text.
 */
export function checkEncoding(bytes: Buffer, file: string, binaryHint = RESTORE): void {
  const utf16 = utf16Name(bytes);
  if (utf16) {
    throw new NightshiftError('bad-table', 'the table is saved as UTF-16, not as UTF-8', convert(utf16, file), {
      file,
      line: 1,
    });
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1) {
    throw new NightshiftError(
      'bad-table',
      'the table contains a NUL byte, so it is not a text file or it was damaged',
      binaryHint,
      { file, line: lineAt(bytes, nul) },
    );
  }
  if (!isUtf8(bytes)) {
    throw new NightshiftError(
      'bad-table',
      'the table is not valid UTF-8; this is the first line with a character in another encoding',
      `${convert('WINDOWS-1252', file)} (if no Windows program saved it, the encoding has another name)`,
      { file, line: firstLineNotUtf8(bytes) },
    );
  }
}

/** By its byte order mark, or by the NUL byte that the first letter of a header would have. */
function utf16Name(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'UTF-16';
  if (first !== 0 && second === 0) return 'UTF-16LE';
  if (first === 0 && second !== 0) return 'UTF-16BE';
  return undefined;
}

function convert(encoding: string, file: string): string {
  return `save it again as CSV (UTF-8), or convert it: iconv -f ${encoding} -t UTF-8 '${file}' > utf8.csv && mv utf8.csv '${file}'`;
}

/** A line break is never part of a longer UTF-8 sequence, so each line can be checked on its own. */
function firstLineNotUtf8(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LF, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
    line++;
  }
}
