import type { ItemInFlight } from '../../documents.ts';
import type { Texts } from './in-force-record.ts';
import type { FileContent } from './put-back.ts';
import type { ShiftFiles } from './shift-files.ts';

/** Who was there when an edit was first seen. `writers`: keys of items that had the file open to write. */
export interface Witnesses {
  readonly inFlight: readonly ItemInFlight[];
  readonly writers: ReadonlySet<string>;
}

/** An edit that can't be used as it is, and since when. */
export interface Unusable extends Witnesses {
  readonly seen: FileContent;
  readonly since: number;
}

/** What is gone may be in the middle of a save; what can't be read, in the middle of an edit (rule F6). */
const GONE_MS = 1000;
const UNREADABLE_MS = 10_000;

/** How long an edit in flight is left to be repaired before it is put back; none that could be used is. */
export function patienceWith(files: ShiftFiles, texts: Texts, file: string, seen: FileContent): number {
  if (canBeUsed(files, texts, file, seen)) return 0;
  return seen.text === undefined ? GONE_MS : UNREADABLE_MS;
}

/** `.env` may be absent; everything else has to be there and to fit together. */
function canBeUsed(files: ShiftFiles, texts: Texts, file: string, { text, unreadable }: FileContent): boolean {
  if (unreadable !== undefined || (text === undefined && file !== files.paths.env)) return false;
  try {
    const edited = new Map([...texts, [file, text]]);
    files.assemble((each) => (edited.has(each) ? edited.get(each) : files.see(each).text));
    return true;
  } catch {
    return false;
  }
}
