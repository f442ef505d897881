import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { RunAccount } from '../../core/folds/run-account.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Report } from './report.ts';

interface Known {
  /** Of Nightshift. */
  readonly version: string;
  readonly account: RunAccount | undefined;
  readonly tasks: readonly string[];
}

/** What the results rest on: a reader can tell whether two reports are about the same files. */
export async function readProvenance(
  paths: ShiftPaths,
  { version, account, tasks }: Known,
): Promise<Report['provenance']> {
  const agents = [...(account?.agents ?? [])].filter((name) => name !== '').sort();
  const files = [paths.manager, paths.table, ...tasks.map((task) => paths.task(task))];
  return [
    ['Nightshift', version],
    ['Node', process.version.slice(1)],
    ['Agents', agents.join('; ') || (account?.started?.agent ?? 'none')],
    ['Run', account?.run ?? 'none'],
    ...(await Promise.all(files.map(async (file) => [basename(file), `SHA-256 ${await hashOf(file)}`] as const))),
  ];
}

async function hashOf(file: string): Promise<string> {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
  } catch {
    return 'unknown: it could not be read';
  }
}
