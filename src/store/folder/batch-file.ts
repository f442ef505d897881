import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, lutimesSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Opener } from '../../core/model/opener.ts';
import { folderOf, replaceInside } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import type { Position } from './journal/journal-files.ts';
import type { ShiftPaths } from './layout.ts';
import { isAlive } from './process-life.ts';

/**
 * A batch that was opened by hand (`nightshift batch open`): which items it holds, and whose token may write their
 * status. What their status is, the table says. It is written at the opening, when a dev hands over to its qa, and gone
 * when the batch is closed; its time of change is the last sign of life.
 */
export interface OpenBatch {
  readonly task: string;
  readonly size: number;
  /** Items that an earlier batch left at `qa`: only to be judged. */
  readonly isWaiting: boolean;
  /** ISO 8601. */
  readonly opened: string;
  readonly timeoutMs: number;
  /** The agent program it was opened from; absent: a terminal. */
  readonly opener?: Opener;
  /** Where the journal ended when it was opened, if there was one: what was recorded since is its own. */
  readonly journalFrom?: Position;
  /** The task file as it was when the items were claimed (rule D5). */
  readonly text: string;
  /** What `tools:` of the task names; the plugin in OpenCode gives it to the item's agents. */
  readonly tools: readonly string[];
  /** Hashes of the files that steer agents and git, by path. */
  readonly steering?: Readonly<Record<string, string>>;
  readonly items: readonly OpenItem[];
}

/** Tokens stand here as hashes: who reads this file can't write with them. */
export interface OpenItem {
  readonly id: string;
  readonly index: number;
  readonly key: string;
  readonly dev?: string;
  readonly qa?: string;
  /** Whoever starts the agents was told to start its qa. */
  readonly isQaNamed?: boolean;
}

export interface FoundBatch {
  readonly batch: OpenBatch;
  /** Milliseconds since 1970. */
  readonly lastSign: number;
}

export function newToken(): string {
  return randomBytes(12).toString('hex');
}

export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function readBatch(paths: ShiftPaths): FoundBatch | undefined {
  if (!existsSync(paths.batch)) return undefined;
  try {
    const batch = JSON.parse(readHere(paths.batch)) as OpenBatch;
    if (Array.isArray(batch.items)) return { batch, lastSign: statSync(paths.batch).mtimeMs };
  } catch {}
  const hint = 'remove it: the items of that batch go back to todo with the next start';
  throw new NightshiftError('bad-folder', `${paths.batch} can't be read`, hint, { file: paths.batch });
}

/** Its agents have had all their time and nothing was heard of them, or the program that they lived in is gone. */
export function isStale({ batch, lastSign }: FoundBatch, now: number): boolean {
  return now > lastSign + batch.timeoutMs || (batch.opener !== undefined && !isAlive(batch.opener));
}

/** One run at a time (rule T6), whoever runs it. */
export function refuseOpenBatch(paths: ShiftPaths, now: number): void {
  const found = readBatch(paths);
  if (!found || isStale(found, now)) return;
  const { name } = paths;
  throw batchIsOpen(
    paths,
    found.batch,
    `\`nightshift batch close ${name}\` closes it when all its items have ended. If its agents are gone, \`nightshift batch open ${name} --take-over\` resumes, and \`nightshift batch close ${name} --give-back\` ends it`,
  );
}

export function batchIsOpen({ name }: ShiftPaths, { task, items, opened, opener }: OpenBatch, hint: string) {
  const what = `${task}, ${items.length === 1 ? '1 item' : `${items.length} items`}`;
  const by = opener === undefined ? '' : `, by ${opener.program}${opener.pid === undefined ? '' : ` (${opener.pid})`}`;
  return new NightshiftError('already-running', `a batch of ${name} is open since ${opened}${by} (${what})`, hint);
}

export async function writeBatch(paths: ShiftPaths, batch: OpenBatch): Promise<void> {
  await replaceInside({ base: paths.folder }, paths.batch, Buffer.from(JSON.stringify(batch)));
}

export function withItem(batch: OpenBatch, item: OpenItem): OpenBatch {
  return { ...batch, items: batch.items.map((each) => (each.id === item.id ? item : each)) };
}

export function signOfLife(paths: ShiftPaths, now: number): void {
  // Of a link itself, not of what it leads to.
  if (existsSync(paths.batch)) lutimesSync(paths.batch, now / 1000, now / 1000);
}

/** Its tokens are void from now on (rule T8), and its prompts gone. */
export async function removeBatch(paths: ShiftPaths): Promise<void> {
  await rm(paths.batch, { force: true });
  if (!lstatSync(paths.prompts, { throwIfNoEntry: false })?.isDirectory()) return;
  using prompts = folderOf(paths.folder, join(paths.prompts, 'any'));
  for (const name of await readdir(prompts.at('.'))) await rm(prompts.at(name), { force: true });
}

/** Only for the eyes of the one it is for; answers where it is. */
export async function writePrompt(paths: ShiftPaths, name: string, text: string): Promise<string> {
  const file = join(paths.prompts, name);
  await replaceInside({ base: paths.folder }, file, Buffer.from(text));
  return file;
}
