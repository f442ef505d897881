import type { RowTask } from '../../documents.ts';
import type { Texts } from './in-force-record.ts';
import type { FileContent } from './put-back.ts';
import type { ShiftFiles } from './shift-files.ts';

/** What ran when an edit was first seen. `writers`: keys of the items whose processes had the file open to write. */
export interface Witnesses {
  readonly running: readonly RowTask[];
  readonly writers: ReadonlySet<string>;
}

/** An edit that can't be used as it is, and since when it is there. */
export interface Unusable extends Witnesses {
  readonly seen: FileContent;
  readonly since: number;
}

/** A missing file may be in the middle of a save, an unreadable one in the middle of an edit (rule F6). */
const GONE_MS = 1000;
const UNREADABLE_MS = 10_000;

/**
 * How long an unusable edit may be repaired before it is put back while items run. A usable one is put back at once.
 */
export function patienceWith(files: ShiftFiles, texts: Texts, file: string, seen: FileContent): number {
  if (canBeUsed(files, texts, file, seen)) return 0;
  return seen.text === undefined ? GONE_MS : UNREADABLE_MS;
}

/** `.env` and `lessons.json` may be absent. Everything else must exist and fit together. */
function canBeUsed(files: ShiftFiles, texts: Texts, file: string, { text, unreadable }: FileContent): boolean {
  if (unreadable !== undefined || (text === undefined && ![files.paths.env, files.paths.lessons].includes(file)))
    return false;
  try {
    const edited = new Map([...texts, [file, text]]);
    files.assemble((each) => (edited.has(each) ? edited.get(each) : files.see(each).text));
    return true;
  } catch {
    return false;
  }
}
