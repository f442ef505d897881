import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { NightshiftError } from '../../../core/model/errors.ts';
import { notAFile, READ_ONLY_HERE, readError } from '../table/table-file.ts';

/** Larger than any document that people write. Anything larger must not fill the memory. */
const LARGEST_DOCUMENT = 16 * 1024 * 1024;

/**
 * Never follows a symbolic link: nothing may lead outside of the shift. Synchronous: waking a thread takes longer
 * than reading a few kilobytes.
 */
export function readDocument(file: string): string {
  try {
    const fd = openSync(file, READ_ONLY_HERE);
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
      if (stats.size > LARGEST_DOCUMENT) {
        const hint = 'restore it, or make it smaller';
        throw new NightshiftError('bad-folder', `${file} is too large (${stats.size} bytes)`, hint, { file });
      }
      return decodeText(readFileSync(fd), file);
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    throw readError(cause, file);
  }
}

/** Bytes that are not UTF-8 would be lost in an edit. */
function decodeText(bytes: Buffer, file: string): string {
  const lines = () => Buffer.from(bytes).toString('latin1').split('\n');
  if (!isUtf8(bytes)) {
    const line = lines().findIndex((each) => !isUtf8(Buffer.from(each, 'latin1'))) + 1;
    throw new NightshiftError('bad-folder', `${file} is not UTF-8 text`, 'save it as UTF-8', { file, line });
  }
  if (bytes.includes(0)) {
    const line = lines().findIndex((each) => each.includes('\0')) + 1;
    const hint = 'restore it, or remove the NUL byte and check the rest';
    throw new NightshiftError('bad-folder', `${file} contains a NUL byte, so it is not a text file`, hint, {
      file,
      line,
    });
  }
  return bytes.toString('utf8');
}
