import { readdirSync, type Stats } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Failpoint, replaceFile } from '../files/atomic-write.ts';
import { readHere } from '../files/read-here.ts';

/** What is found in place of a document: its text, nothing, or something that is no text (a link, a folder). */
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

/** An editor that saves in place empties the file before it fills it. What is seen twice is taken as saved. */
const SETTLE_MS = 100;
const SETTLE_TRIES = 10;

/** Waits until these files no longer change. Returns their content. */
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
/** An agent that writes a file again and again must not fill the folder. The first copies are kept. */
const KEPT_AT_MOST = 50;

/**
 * Keeps the other text in a file beside it that only its owner can read. Returns its name; undefined if there was
 * nothing to keep.
 */
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

/** Removed secrets must not become readable for others. */
export function restoredMode(file: string, stats: Stats | undefined): number {
  const usual = basename(file) === '.env' ? 0o600 : 0o644;
  return stats?.isFile() ? stats.mode & 0o777 : usual;
}

export interface KeptCopy {
  readonly file: string;
  /** The name of the file that was put back. */
  readonly document: string;
  /** Later names sort after earlier ones. */
  readonly stamp: string;
}

/** Copies of documents, oldest first. You can accept them, unlike those of the table. */
export function waitingCopies(folder: string): KeptCopy[] {
  const others = ['.env', 'lessons.json'];
  return keptCopies(folder).filter(({ document }) => others.includes(document) || document.endsWith('.md'));
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
