import { type FileHandle, open } from 'node:fs/promises';
import type { ViewState } from '../../core/folds/view-state.ts';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';

const TAIL_BYTES = 8192;

/** For a view that only has the journal: when the transcript of each running item grew last, and its last lines. */
export async function hearTranscripts(paths: ShiftPaths, state: ViewState): Promise<void> {
  for (const { task, item, key, role, lastSign } of state.running.values()) {
    let handle: FileHandle | undefined;
    try {
      handle = await open(paths.transcript(task, key, role), 'r');
      const { mtimeMs, size } = await handle.stat();
      if (mtimeMs <= lastSign) continue;
      const tail = Buffer.alloc(Math.min(TAIL_BYTES, size));
      await handle.read(tail, 0, tail.length, size - tail.length);
      state.heard(task, item, mtimeMs);
      for (const entry of entriesIn(tail.toString('utf8'))) state.heard(task, item, mtimeMs, entry);
    } catch {
      // Without its transcript, an item shows no sign of life; nothing else depends on it.
    } finally {
      await handle?.close();
    }
  }
}

/** The first line may be cut. */
function entriesIn(tail: string): TranscriptEntry[] {
  return tail.split('\n').flatMap((line) => {
    try {
      const entry = JSON.parse(line);
      return typeof entry?.kind === 'string' && typeof entry.text === 'string' ? [entry] : [];
    } catch {
      return [];
    }
  });
}
