import { NightshiftError } from '../core/model/errors.ts';
import type { Emit } from '../core/model/events.ts';
import type { Shift, Task } from '../core/model/shift.ts';
import { compileShift, type Overrides, outputsByTask, type ShiftDocuments } from '../formats/compile.ts';
import type { InForce } from '../store/folder/documents/in-force.ts';
import { ShiftFiles } from '../store/folder/documents/shift-files.ts';
import type { Failpoint } from '../store/folder/files/atomic-write.ts';
import { setAsideText } from '../store/folder/files/inside.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { FolderStore } from '../store/folder/table/folder-store.ts';
import type { Snapshot } from '../store/store.ts';
import { type Compile, compileOnce } from './compile-once.ts';

/** A shift that was read and checked, with the parts that read it. */
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
  /** How long to retry a table that became unreadable; a run has its own patience. */
  readonly patienceMs?: number;
  /** Shared by all who read the same shift with the same overrides. */
  readonly compile?: Compile;
}

/** Reads all files of a shift and checks that they agree (rules F1-F7, V2, V4). Writes nothing. */
export async function openAndCheck(paths: ShiftPaths, options: OpenOptions = {}): Promise<OpenShift> {
  const warn = (message: string) => options.emit?.({ type: 'run:warning', message });
  const files = new ShiftFiles(paths, options.failpoint, (file, kept) => warn(setAsideText(file, kept)));
  const documents = await files.read();
  checkName(paths, documents);
  const store = new FolderStore({
    table: paths.table,
    lock: paths.lock,
    journal: paths.journal,
    identity: paths.identity,
    tasks: documents.tasks.map(({ name }) => name),
    outputs: outputsByTask(documents),
    emit: options.emit ?? (() => {}),
    ...(options.failpoint === undefined ? {} : { failpoint: options.failpoint }),
    isShared: options.isShared ?? false,
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
  });
  const snapshot = await store.snapshot();
  const compile = options.compile ?? compileOnce(options);
  return { shift: compile(documents, snapshot.header), files, store, snapshot };
}

/** The name in the manifest is that of the folder. */
export function checkName({ name, manager: file }: ShiftPaths, { manager }: ShiftDocuments): void {
  const named = manager.settings.find(({ key }) => key === 'name');
  if (!named || named.value === name) return;
  throw new NightshiftError(
    'bad-manager',
    `manager.md has the name ${named.value}, but its folder is ${name}`,
    `write \`- name: ${name}\`, or rename the folder`,
    { file, line: named.line },
  );
}

/**
 * Reads the shift as it is in force now, for a run. Tells the store of new tasks and outputs. Returns the same object
 * as last time if nothing changed.
 */
export function reloader(inForce: Pick<InForce, 'read'>, store: FolderStore, compile: Compile): () => Promise<Shift> {
  let last: Shift | undefined;
  return async () => {
    const documents = await inForce.read();
    const { header } = await store.snapshot();
    const shift = compile(documents, header);
    if (shift === last) return shift;
    await store.prepare(
      shift.tasks.map(({ name }) => name),
      outputsByTask(documents),
    );
    last = shift;
    return shift;
  };
}

/**
 * Throws if a run can't use changed documents. `requireAgents`: checks the agents of tasks that were added or changed.
 */
export function checkerOf(
  store: FolderStore,
  begun: Shift,
  overrides: Overrides,
  requireAgents: (changed: Shift) => Promise<void>,
): (documents: ShiftDocuments) => Promise<void> {
  const isChecked = new Set(begun.tasks.map(fingerprint));
  return async (documents) => {
    const now = compileShift(documents, (await store.snapshot()).header, overrides);
    const changed = now.tasks.filter((task) => !isChecked.has(fingerprint(task)));
    if (changed.length > 0) await requireAgents({ ...now, tasks: changed });
    for (const task of changed) isChecked.add(fingerprint(task));
  };
}

function fingerprint({ name, version, settings }: Task): string {
  return JSON.stringify([name, version, settings]);
}
