import { existsSync, lstatSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { isOver, type Lease } from '../../core/model/lease.ts';
import type { Opener } from '../../core/model/opener.ts';
import { localTime } from '../../core/text/local-time.ts';
import { LOCK_WAIT_MS, lockWithin } from './files/flock.ts';
import { folderOf, replaceInside } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import type { Position } from './journal/journal-reader.ts';
import type { ShiftPaths } from './layout.ts';
import { isAlive } from './process-life.ts';

/**
 * A batch opened by hand (`nightshift batch open`): its items, and the tokens that may write their statuses. The table
 * says what their statuses are. The file exists while the batch is open.
 */
export interface OpenBatch {
  readonly task: string;
  readonly size: number;
  /** Items that an earlier batch left at `qa`: they only need a qa. */
  readonly isWaiting: boolean;
  /** ISO 8601. */
  readonly opened: string;
  /** Its items are leased together. Each status that one of its agents writes renews the lease. */
  readonly lease: Omit<Lease, 'token'>;
  /** How long the lease lasts without a sign of life: the timeout of the task. */
  readonly timeoutMs: number;
  /** The agent program that opened it; absent: a terminal. */
  readonly opener?: Opener;
  /** Where the journal ended when the batch was opened, if there was one. Later lines belong to the batch. */
  readonly journalFrom?: Position;
  /** The task file when the items were claimed (rule D5). */
  readonly text: string;
  /** The `tools:` of the task. The plugin in OpenCode gives them to the agents. */
  readonly tools: readonly string[];
  /** Hashes of the files that steer agents and git, by path. */
  readonly steering?: Readonly<Record<string, string>>;
  readonly items: readonly OpenItem[];
}

/** `dev`, `qa`: hashes of the tokens, which can't be used to write. */
export interface OpenItem {
  readonly id: string;
  readonly index: number;
  readonly key: string;
  readonly dev?: string;
  readonly qa?: string;
  /** The manager was told to start its qa. */
  readonly isQaNamed?: boolean;
}

export interface FoundBatch {
  readonly batch: OpenBatch;
  /** When one of its agents last wrote a status. Milliseconds since 1970. */
  readonly lastSign: number;
}

export function batchLease(opener: Opener | undefined, expiresAt: number): OpenBatch['lease'] {
  if (opener === undefined) return { owner: 'a terminal', expiresAt };
  const { program, pid } = opener;
  return { owner: pid === undefined ? program : `${program} (${pid})`, expiresAt };
}

export function readBatch(paths: ShiftPaths): FoundBatch | undefined {
  if (!existsSync(paths.batch)) return undefined;
  try {
    const batch = withLease(paths, JSON.parse(readHere(paths.batch)));
    if (Array.isArray(batch.items)) return { batch, lastSign: batch.lease.expiresAt - batch.timeoutMs };
  } catch {}
  const hint = 'remove it: the items of that batch go back to todo with the next start';
  throw new NightshiftError('bad-folder', `${paths.batch} can't be read`, hint, { file: paths.batch });
}

/** Older files have no lease: their time of change is the last sign of life. */
function withLease(paths: ShiftPaths, batch: Omit<OpenBatch, 'lease'> & Partial<OpenBatch>): OpenBatch {
  const { lease, opener, timeoutMs } = batch;
  if (typeof lease?.expiresAt === 'number') return { ...batch, lease };
  const expiresAt = statSync(paths.batch).mtimeMs + timeoutMs;
  return { ...batch, lease: batchLease(opener, Number.isFinite(expiresAt) ? expiresAt : 0) };
}

/** Its lease is over: the agents used up their time, or the program that ran them is gone. */
export function isStale({ batch }: FoundBatch, now: number): boolean {
  return isOver(batch.lease, now) || (batch.opener !== undefined && !isAlive(batch.opener));
}

/** One run at a time (rule T6), by the engine or by hand. */
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

export function batchIsOpen({ name }: ShiftPaths, { task, items, opened, opener, lease }: OpenBatch, hint: string) {
  const what = `${task}, ${items.length === 1 ? '1 item' : `${items.length} items`}`;
  const by = opener === undefined ? '' : `, by ${lease.owner}`;
  return new NightshiftError(
    'already-running',
    `a batch of ${name} is open since ${localTime(opened, Date.now())}${by} (${what})`,
    hint,
  );
}

export async function writeBatch(paths: ShiftPaths, batch: OpenBatch): Promise<void> {
  await replaceInside({ base: paths.folder }, paths.batch, Buffer.from(JSON.stringify(batch)));
}

/** Changes the open batch, if there still is one. Agents that end at the same moment wait for each other. */
async function updateBatch(paths: ShiftPaths, change: (batch: OpenBatch) => OpenBatch): Promise<void> {
  using _lock = await lockWithin(paths.lock, LOCK_WAIT_MS);
  const found = readBatch(paths);
  if (found) await writeBatch(paths, change(found.batch));
}

export async function updateItem(paths: ShiftPaths, id: string, change: Partial<OpenItem>): Promise<void> {
  await updateBatch(paths, (batch) => {
    return { ...batch, items: batch.items.map((item) => (item.id === id ? { ...item, ...change } : item)) };
  });
}

export async function renewBatch(paths: ShiftPaths, now: number): Promise<void> {
  await updateBatch(paths, (batch) => ({ ...batch, lease: { ...batch.lease, expiresAt: now + batch.timeoutMs } }));
}

/** Ends its lease: the tokens are void (rule T8), and the prompts are gone. */
export async function removeBatch(paths: ShiftPaths): Promise<void> {
  // Without the lock, an agent that writes its status now would put the file back.
  if (existsSync(paths.batch)) {
    using _lock = await lockWithin(paths.lock, LOCK_WAIT_MS);
    await rm(paths.batch, { force: true });
  }
  if (!lstatSync(paths.prompts, { throwIfNoEntry: false })?.isDirectory()) return;
  using prompts = folderOf(paths.folder, join(paths.prompts, 'any'));
  for (const name of await readdir(prompts.at('.'))) await rm(prompts.at(name), { force: true });
}

/** Returns the path of the file. Only its agent may read it: it holds the token. */
export async function writePrompt(paths: ShiftPaths, name: string, text: string): Promise<string> {
  const file = join(paths.prompts, name);
  await replaceInside({ base: paths.folder }, file, Buffer.from(text));
  return file;
}
