import { NightshiftError } from '../core/model/errors.ts';
import { LF, lineAt } from './table-bytes.ts';

/** The marker of a git merge conflict. */
const CONFLICT = Buffer.from('<<<<<<< ');

/** Throws if git left a conflict in the table. */
export function refuseConflict(bytes: Buffer, file: string): void {
  const at = bytes.indexOf(CONFLICT);
  if (at === -1 || (at > 0 && bytes[at - 1] !== LF)) return;
  const hint = 'choose one side of each conflict and remove the lines that begin with <<<<<<<, ======= and >>>>>>>';
  const place = { file, line: lineAt(bytes, at) };
  throw new NightshiftError('bad-table', 'the table has a merge conflict', hint, place);
}

const SEPARATORS = { ';': 'semicolons', '\t': 'tabs' } as const;

/**
 * Throws if the header is separated by something other than commas, as spreadsheets do in many countries. A separator
 * in quotes is part of a name.
 */
export function refuseOtherSeparator(bytes: Buffer, file: string): void {
  const end = bytes.indexOf(LF);
  const line = bytes.subarray(0, end === -1 ? bytes.length : end).toString();
  const header = line.replaceAll(/"[^"]*("|$)/g, '');
  if (header.includes(',')) return;
  const separator = (['\t', ';'] as const).find((each) => header.includes(each));
  if (separator === undefined) return;
  const message = `the columns are separated by ${SEPARATORS[separator]}, not by commas`;
  const hint = 'save the table again as CSV with commas as separators';
  throw new NightshiftError('bad-table', message, hint, { file, line: 1 });
}
