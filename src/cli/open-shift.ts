import { NightshiftError } from '../core/errors.ts';
import type { Emit } from '../core/events.ts';
import type { Shift } from '../core/shift.ts';
import { compileShift, type Overrides, outputsByTask, type ShiftDocuments } from '../formats/compile.ts';
import type { Failpoint } from '../store/atomic-write.ts';
import { FolderStore } from '../store/folder-store.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { ShiftFiles } from '../store/shift-files.ts';
import type { Snapshot } from '../store/store.ts';

/** A shift that was read and found right, with the parts that read it. */
export interface OpenShift {
  readonly shift: Shift;
  readonly files: ShiftFiles;
  readonly store: FolderStore;
  readonly snapshot: Snapshot;
}

export interface OpenOptions extends Overrides {
  readonly emit?: Emit;
  readonly failpoint?: Failpoint;
  readonly isShared?: boolean;
}

/** Reads everything and checks it against each other (rules F1-F7, V2, V4); writes nothing. */
export async function openAndCheck(paths: ShiftPaths, options: OpenOptions = {}): Promise<OpenShift> {
  const files = new ShiftFiles(paths, options.failpoint);
  const documents = await files.read();
  const named = documents.manager.settings.find(({ key }) => key === 'name');
  if (named && named.value !== paths.name) {
    throw new NightshiftError(
      'bad-manager',
      `manager.md has the name ${named.value}, but its folder is ${paths.name}`,
      `write \`- name: ${paths.name}\`, or rename the folder`,
      { file: paths.manager, line: named.line },
    );
  }
  const store = new FolderStore({
    table: paths.table,
    lock: paths.lock,
    journal: paths.journal,
    tasks: documents.tasks.map(({ name }) => name),
    outputs: outputsByTask(documents),
    emit: options.emit ?? (() => {}),
    ...(options.failpoint === undefined ? {} : { failpoint: options.failpoint }),
    isShared: options.isShared ?? false,
  });
  const snapshot = await store.snapshot();
  return { shift: compileShift(documents, snapshot.header, options), files, store, snapshot };
}

/**
 * Reads the shift as it is now, for a run that is going on; the store learns of tasks and outputs that are new. The same
 * object as the last time if nothing changed.
 */
export function reloader(files: ShiftFiles, store: FolderStore, overrides: Overrides): () => Promise<Shift> {
  let last: { shift: Shift; documents: ShiftDocuments; header: string } | undefined;
  return async () => {
    const documents = await files.read();
    const snapshot = await store.snapshot();
    const header = JSON.stringify(snapshot.header);
    if (last?.documents === documents && last.header === header) return last.shift;
    const shift = compileShift(documents, snapshot.header, overrides);
    await store.prepare(
      shift.tasks.map(({ name }) => name),
      outputsByTask(documents),
    );
    last = { shift, documents, header };
    return shift;
  };
}
