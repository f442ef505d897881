import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { ShiftPlace } from '../../core/model/model.ts';
import { systemError } from '../../core/model/system-errors.ts';
import type { SentOrder } from '../../fleet/protocol.ts';
import type { Refused } from '../../fleet/worker/order-run.ts';
import { type ShiftPaths, shiftPaths } from '../../store/folder/layout.ts';
import { findVolume } from './fleet-ids.ts';
import type { WorkerFiles } from './worker-files.ts';
import type { WorkerFolder } from './worker-folder.ts';

export interface PlaceMeans {
  /** The volume with the project that all machines have; undefined: this worker has none. */
  readonly root: string | undefined;
  /** Where the worker keeps its own files. */
  readonly folder: WorkerFolder;
  readonly files: WorkerFiles;
}

/** Where an order finds its shift on this machine, until it is disposed. */
interface FoundPlace extends Disposable {
  readonly place: ShiftPlace;
  /** The shift on the volume, if it works there. */
  readonly volume?: ShiftPaths;
}

/** Or why it has no place here, which is not the fault of its item. */
type PlaceResult = FoundPlace | Refused | { readonly reason: string };

/**
 * On the volume, the shift's own folder. Otherwise a folder of the worker: with the files that the order takes along, or
 * an empty one.
 */
export async function findPlace(sent: SentOrder, means: PlaceMeans, signal: AbortSignal): Promise<PlaceResult> {
  const mark = means.folder.shift(sent.shift.key);
  const volume = sent.needs.find((need) => need.startsWith('volume:'))?.slice('volume:'.length);
  if (volume !== undefined) return onVolume(sent, means.root, { volume, mark });
  if (sent.files === undefined) return { place: placeIn(mark, mark), [Symbol.dispose]() {} };
  try {
    const used = await means.files.use(sent, sent.files, signal);
    return 'folder' in used ? { place: placeIn(used.folder, mark), [Symbol.dispose]: used[Symbol.dispose] } : used;
  } catch (error) {
    const refused = signal.aborted ? new Error('stopped') : systemError(error);
    if (!refused) throw error;
    return { reason: refused.message };
  }
}

/** There is no table: nothing that a worker runs here may use it. */
function placeIn(folder: string, mark: string): ShiftPlace {
  return { root: folder, folder, table: join(folder, 'table.csv'), mark };
}

/** Whoever controls the database decides which worker gets an order, so the mark is compared again. */
function onVolume(
  { shift }: SentOrder,
  root: string | undefined,
  { volume, mark }: { volume: string; mark: string },
): FoundPlace | { reason: string } {
  const isThere = root !== undefined && findVolume(root) === volume;
  if (!isThere) return { reason: 'its project is not in the --root of this worker' };
  const volumePaths = shiftPaths(root, shift.name);
  const { folder, table } = volumePaths;
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return { reason: `${folder} is not on the volume` };
  return { place: { root, folder, table, mark }, volume: volumePaths, [Symbol.dispose]() {} };
}
