import { readdirSync, type Stats } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Failpoint, replaceFile } from '../files/atomic-write.ts';
import { readHere } from '../files/read-here.ts';

/** What stands where a document should be: its text, nothing, or what is no text at all (a link, a folder). */
export interface FileContent {
  readonly text?: string;
  readonly unreadable?: string;
}

export function isSameContent(a: FileContent, b: FileContent): boolean {
  return a.text === b.text && a.unreadable === b.unreadable;
}

export function isUnreadable({ unreadable }: FileContent): boolean {
  return unreadable !== undefined;
}

/** An editor that saves in place empties the file before it fills it: what is seen twice is meant. */
const SETTLE_MS = 100;
const SETTLE_TRIES = 10;

/** Waits until nobody writes these files any more; what stands there then. */
export async function settle(
  files: readonly string[],
  see: (file: string) => FileContent,
): Promise<Map<string, FileContent>> {
  const look = () => new Map(files.map((file) => [file, see(file)]));
  let before = look();
  for (let tries = 0; ; tries++) {
    await sleep(SETTLE_MS);
    const now = look();
    if (tries === SETTLE_TRIES || files.every((file) => isSameContent(before.get(file)!, now.get(file)!))) return now;
    before = now;
  }
}

const MARK = '.put-back-';
/** An agent that writes a file over and over must not fill the folder; what it wrote first is there. */
const KEPT_AT_MOST = 50;

/** The other text goes to a file beside it that only its owner can read; answers which. Undefined: there was none to keep. */
export async function keepBeside(file: string, seen: FileContent, failpoint: Failpoint): Promise<string | undefined> {
  const { text } = seen;
  if (text === undefined && !isUnreadable(seen)) return undefined;
  const name = `${file}${MARK}${new Date().toISOString().replace(/[:.]/g, '')}`;
  if (text === undefined) {
    // A link or a folder can't be copied as text.
    await rename(file, name);
    return name;
  }
  const earlier = keptCopies(dirname(file)).filter(({ document }) => document === basename(file));
  const same = earlier.find((each) => textOf(each.file) === text);
  if (same || earlier.length >= KEPT_AT_MOST) return same?.file;
  await replaceFile(name, Buffer.from(text), 0o600, failpoint);
  return name;
}

/** Secrets that were removed are not written for everybody to read. */
export function restoredMode(file: string, stats: Stats | undefined): number {
  const usual = basename(file) === '.env' ? 0o600 : 0o644;
  return stats?.isFile() ? stats.mode & 0o777 : usual;
}

export interface KeptCopy {
  readonly file: string;
  /** The name of the file that it was put back from. */
  readonly document: string;
  /** Later ones sort behind earlier ones. */
  readonly stamp: string;
}

/** Of documents, oldest first: they can be accepted. Those of the table are another matter. */
export function waitingCopies(folder: string): KeptCopy[] {
  return keptCopies(folder).filter(({ document }) => document === '.env' || document.endsWith('.md'));
}

/** Oldest first. */
function keptCopies(folder: string): KeptCopy[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => {
      const at = name.lastIndexOf(MARK);
      return at <= 0 ? [] : [{ file: join(folder, name), document: name.slice(0, at), stamp: name.slice(at) }];
    })
    .sort((a, b) => (a.stamp < b.stamp ? -1 : 1));
}

function textOf(file: string): string | undefined {
  try {
    return readHere(file);
  } catch {
    return undefined;
  }
}
