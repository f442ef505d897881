import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fillTemplate, resolveText } from '../../core/language/template.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { itemKey } from '../../core/model/identity.ts';
import { type Shift, valuesOf } from '../../core/model/shift.ts';
import { createMask } from '../../core/text/mask.ts';
import type { Change } from '../../core/workspace/change.ts';
import { KEY_TRAILER } from '../../core/workspace/delivery.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import { whyUnread } from '../../workspace/failure.ts';
import { GitFailure } from '../../workspace/git.ts';
import { Reading, type Span } from '../../workspace/reading.ts';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { findRowIndex } from '../rows.ts';
import type { World } from '../world.ts';
import { holdings, openReading, type Surroundings } from './examine.ts';
import { surroundings } from './list-workspaces.ts';

export interface RowDiff {
  readonly shift: string;
  /** 1-based. */
  readonly row: number;
  readonly base: string | null;
  readonly change: Change;
  /** What `git diff` prints, for readers: without secrets. Absent: it was sent, or is too large to show. */
  readonly text?: string;
}

export interface DiffOptions {
  /** Of `git diff`. */
  readonly args: readonly string[];
  /** Gets all that it prints, in pieces: bytes, because files have any encoding. */
  readonly send?: (bytes: Uint8Array) => void;
}

/** A longer patch is not shown: it would be in memory, and nobody reads it. */
const MOST_SHOWN_BYTES = 16_000_000;

/** The change of a row against its base, also after its workspace is gone. */
export async function diffRow(world: World, paths: ShiftPaths, row: string, options: DiffOptions): Promise<RowDiff> {
  const opened = await openAndCheck(paths);
  return diffItem(world, { ...opened, paths }, findRowIndex(opened, row), options);
}

type Known = Pick<OpenShift, 'shift' | 'snapshot'> & { readonly paths: ShiftPaths };

/** The same for a row of a shift that was read. */
export async function diffItem(
  world: World,
  opened: Known,
  index: number,
  { args, send }: DiffOptions,
): Promise<RowDiff> {
  const { paths } = opened;
  using around = surroundings(world, paths, opened);
  const read = async (reading: Reading, span: Span): Promise<RowDiff> => {
    const file = await reading.diff(span, args);
    const diff = { shift: paths.name, row: index + 1, base: span.base ?? null, change: await reading.change(span) };
    if (send) {
      for await (const piece of createReadStream(file, { highWaterMark: MOST_SHOWN_BYTES })) send(piece);
      return diff;
    }
    if ((await stat(file)).size > MOST_SHOWN_BYTES) return diff;
    return { ...diff, text: createMask(opened.shift.secrets).text(await readFile(file, 'utf8')) };
  };
  const record = await new FolderWorkspaceRecords(paths).read(around.snapshot.id(index));
  try {
    const recorded = record && (await readRecorded(around, record, read));
    return recorded ?? (await readDelivered(around, opened, index, read));
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const why = record ? whyUnread(record, error) : error.message;
    throw new NightshiftError('bad-folder', `the change of row ${index + 1} can't be read: ${why}`);
  }
}

type Read<T> = (reading: Reading, span: Span) => Promise<T>;

/** Undefined if nothing is left that the record names. */
async function readRecorded<T>(around: Surroundings, record: WorkspaceRecord, read: Read<T>): Promise<T | undefined> {
  await using reading = await openReading(around, record);
  const held = await holdings(reading, record);
  return held && (await read(reading, held.span));
}

/** The commit of a delivery has the key of an item-task in its message. */
async function readDelivered<T>(
  { git, paths, snapshot, signal }: Surroundings,
  { shift }: Pick<OpenShift, 'shift'>,
  index: number,
  read: Read<T>,
): Promise<T> {
  const id = snapshot.id(index);
  const keys = shift.tasks.map(({ name }) => `--grep=${KEY_TRAILER}: ${itemKey(shift.identity, name, id)}`);
  for (const repository of workingDirs(shift, snapshot.metadata(index))) {
    const args = ['log', '--all', '-1', '--format=%H %P', '--fixed-strings', ...keys];
    const found = await git.run({ folder: repository, args, signal });
    const [commit, parent] = found.kind === 'done' ? found.text.trim().split(' ') : [];
    if (!commit) continue;
    await using reading = await Reading.open(git, { repository }, signal);
    const tree = await reading.treeOf(commit);
    if (tree !== undefined) return await read(reading, { base: parent, tree });
  }
  throw new NightshiftError(
    'not-found',
    `row ${index + 1} has no workspace, and no commit of it was found`,
    `\`nightshift show ${paths.name} ${index + 1}\` says how far it is`,
  );
}

/** Where the tasks of a row work, or would without a workspace: folders that are there. */
function workingDirs(shift: Shift, metadata: Readonly<Record<string, string>>): string[] {
  const values = valuesOf(shift, metadata);
  const folders = shift.tasks.map(({ workingDir }) =>
    resolve(shift.root, resolveText(fillTemplate(workingDir, values), shift.secrets)),
  );
  return [...new Set(folders)].filter((folder) => existsSync(folder));
}
