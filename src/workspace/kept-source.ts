import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestsOf } from './hooks.ts';
import type { Source } from './source.ts';

interface Kept {
  readonly source: Source;
  /** Of its hooks. After a power cut, files may be empty that were written shortly before. */
  readonly digests: Readonly<Record<string, string>>;
}

const FILE = 'source.json';

/** The copies of hooks. */
export function hooksIn(copies: string): string {
  return join(copies, 'hooks');
}

/** Keeps a repository as it was read. `copies`: the folder that has its hooks. */
export function keepSource(copies: string, source: Source): void {
  const kept: Kept = { source, digests: digestsOf(hooksIn(copies)) };
  const file = join(copies, FILE);
  // Settings may hold tokens.
  writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Undefined if nothing is kept there, or not all of it. */
export function readKept(copies: string): Source | undefined {
  const file = join(copies, FILE);
  if (!existsSync(file)) return undefined;
  try {
    const { source, digests } = JSON.parse(readFileSync(file, 'utf8')) as Kept;
    return JSON.stringify(digestsOf(hooksIn(copies))) === JSON.stringify(digests) ? source : undefined;
  } catch {
    return undefined;
  }
}
