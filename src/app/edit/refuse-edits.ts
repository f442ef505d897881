import { basename } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { readBatch } from '../../store/folder/batch-file.ts';
import { acceptedId } from '../../store/folder/documents/acceptances.ts';
import { readRecord } from '../../store/folder/documents/in-force-record.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';

interface DocumentOnDisk {
  readonly file: string;
  /** Undefined: there is no such file. */
  readonly text: string | undefined;
}

/**
 * While items run, what is on disk may be an agent's edit that was not reverted yet. It must not come into force with
 * a command that is about something else.
 */
export function refuseEdits(paths: ShiftPaths, documents: readonly DocumentOnDisk[]): void {
  const isActive = currentHolder(paths.runLock) !== undefined || readBatch(paths) !== undefined;
  const record = isActive ? readRecord(paths) : undefined;
  if (!record) return;
  const edited = documents.find(({ file, text }) => {
    if (record.texts.get(file) === text || (record.next?.file === file && record.next.text === text)) return false;
    return text === undefined || acceptedId(paths, file, text) === undefined;
  });
  if (!edited) return;
  const message = `${basename(edited.file)} was edited while items run, and the edit is not in force`;
  const hint = `try again; if it was reverted, \`nightshift accept ${paths.name}\` shows it`;
  throw new NightshiftError('usage', message, hint, { file: edited.file });
}
