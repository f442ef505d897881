import type { Counts } from '../../../core/model/events.ts';
import { parseManager, readShiftSettings, setProgress, setSetting } from '../../../formats/manager.ts';
import type { SizeChange } from '../../documents.ts';

/** `manager.md` after a batch, and the batch size in force: yours, if you set another one meanwhile (rule P4). */
export function withBatchEnd(
  text: string,
  file: string,
  counts: Counts,
  size: SizeChange | undefined,
): { readonly text: string; readonly size: number | undefined } {
  // Throws if it is gone or can't be read: then nothing is written to it.
  const manager = parseManager(text, file);
  const counted = setProgress(text, counts);
  if (!size) return { text: counted, size: undefined };
  const { batchSize } = readShiftSettings(manager, file).settings;
  if (batchSize !== size.was) return { text: counted, size: batchSize };
  return { text: setSetting(counted, 'current-batch-size', String(size.to)), size: size.to };
}
