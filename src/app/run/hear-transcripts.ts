import { type FileHandle, open } from 'node:fs/promises';
import type { RunningSession } from '../../core/folds/sessions.ts';
import type { ViewState } from '../../core/folds/view-state.ts';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';

const NEWLINE = 0x0a;
const TAIL_BYTES = 8 * 1024;
/** A longer entry is not read: its item only shows a sign of life. */
const LONGEST_ENTRY_BYTES = 1024 * 1024;

interface Listener {
  readonly running: ReadonlyMap<string, Pick<RunningSession, 'task' | 'item' | 'key' | 'role' | 'lastSign'>>;
  heard: ViewState['heard'];
}

/** For a view that only has the journal: when the transcript of each running item grew last, and its last lines. */
export async function hearTranscripts(paths: ShiftPaths, state: Listener): Promise<void> {
  for (const { task, item, key, role, lastSign } of state.running.values()) {
    let handle: FileHandle | undefined;
    try {
      handle = await open(paths.transcript(task, key, role), 'r');
      const { mtimeMs, size } = await handle.stat();
      if (mtimeMs <= lastSign) continue;
      state.heard(task, item, mtimeMs);
      for (const entry of entriesIn(await readTail(handle, size))) state.heard(task, item, mtimeMs, entry);
    } catch {
      // Without its transcript, an item shows no sign of life; nothing else depends on it.
    } finally {
      await handle?.close();
    }
  }
}

/** The last lines. Begins with the whole line that reaches into the last bytes, unless that line is too long. */
export async function readTail(handle: FileHandle, size: number): Promise<string> {
  for (let bytes = TAIL_BYTES; ; bytes *= 4) {
    const length = Math.min(bytes, size, LONGEST_ENTRY_BYTES);
    const tail = Buffer.alloc(length);
    await handle.read(tail, 0, length, size - length);
    const begin = tail.subarray(0, Math.max(0, length - TAIL_BYTES)).lastIndexOf(NEWLINE) + 1;
    if (begin > 0) return tail.toString('utf8', begin);
    if (length === size || length === LONGEST_ENTRY_BYTES) return tail.toString('utf8');
  }
}

/** The first line may be cut, and so may the last. */
export function entriesIn(tail: string): TranscriptEntry[] {
  return tail.split('\n').flatMap((line) => {
    try {
      const entry = JSON.parse(line);
      return typeof entry?.kind === 'string' && typeof entry.text === 'string' ? [entry] : [];
    } catch {
      return [];
    }
  });
}
