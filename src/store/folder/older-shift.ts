import { existsSync } from 'node:fs';
import { chmod, cp, link, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { orderedTasks, planUpgrade, type Upgrade } from '../../formats/older.ts';
import { diskError } from './files/atomic-write.ts';
import { lockWithin } from './files/flock.ts';
import { initRoot } from './init-root.ts';
import { type ShiftPaths, shiftsFolder } from './layout.ts';
import { lockForCommand } from './run-lock.ts';
import { READ_ONLY_HERE, readError } from './table/table-file.ts';

const LOCK_WAIT_MS = 30_000;
const KEPT = '.before-doctor-';
const BUILDING = '.doctor-new-';

/** What has to change. Writes nothing. */
export async function readUpgrade(paths: ShiftPaths): Promise<Upgrade> {
  const [manager, table, files] = await Promise.all([
    read(paths.manager).then((bytes) => bytes.toString('utf8')),
    read(paths.table),
    readdir(paths.folder),
  ]);
  const tasks = new Map<string, string>();
  for (const name of orderedTasks(manager).map((task) => `${task}.md`)) {
    if (files.includes(name)) tasks.set(name, (await read(join(paths.folder, name))).toString('utf8'));
  }
  return planUpgrade({ manager, table, files, tasks }, paths.manager, paths.table);
}

/** Never follows a link. */
async function read(file: string): Promise<Buffer> {
  try {
    const handle = await open(file, READ_ONLY_HERE);
    try {
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw readError(cause, file);
  }
}

/**
 * Upgrades an older shift, all or nothing: builds a changed copy beside it and puts that in its place. Keeps the old
 * shift and returns where. Undefined: there was nothing to do, or you must decide something.
 */
export async function upgradeShift(
  paths: ShiftPaths,
  now: number,
  failpoint: (name: 'doctor:built' | 'doctor:kept') => void = () => {},
): Promise<{ upgrade: Upgrade; kept: string } | undefined> {
  const since = new Date(now).toISOString();
  await initRoot(paths.root);
  const building = join(shiftsFolder(paths.root), `${BUILDING}${paths.name}`);
  try {
    await mkdir(paths.engine, { recursive: true, mode: 0o700 });
    using _run = await lockForCommand(paths, 'doctor', now);
    using _lock = await lockWithin(paths.lock, LOCK_WAIT_MS);
    const upgrade = await readUpgrade(paths);
    if (upgrade.changes.length === 0 || upgrade.obstacles.length > 0) return undefined;
    await build(paths, building, upgrade);
    failpoint('doctor:built');
    const kept = freeName(join(shiftsFolder(paths.root), `${KEPT}${since.slice(0, 10)}-${paths.name}`));
    await rename(paths.folder, kept);
    failpoint('doctor:kept');
    try {
      await rename(building, paths.folder);
    } catch (cause) {
      await rename(kept, paths.folder);
      throw cause;
    }
    await sync(shiftsFolder(paths.root));
    return { upgrade, kept };
  } catch (cause) {
    await rm(building, { recursive: true, force: true });
    throw diskError(cause, paths.folder);
  }
}

/** Shifts whose upgrade was interrupted after the new folder was complete. */
export async function interruptedUpgrades(root: string): Promise<string[]> {
  const names = await readdir(shiftsFolder(root));
  const shifts = names.filter((name) => name.startsWith(BUILDING)).map((name) => name.slice(BUILDING.length));
  return shifts.filter((shift) => !names.includes(shift));
}

export async function finishUpgrade(root: string, shift: string): Promise<void> {
  const folder = join(shiftsFolder(root), shift);
  await rename(join(shiftsFolder(root), `${BUILDING}${shift}`), folder);
  await sync(shiftsFolder(root));
}

async function build(paths: ShiftPaths, building: string, upgrade: Upgrade): Promise<void> {
  await rm(building, { recursive: true, force: true });
  const locks = [paths.lock, paths.runLock];
  const isCopied = (file: string) => !locks.includes(file) && !upgrade.removals.includes(basename(file));
  await cp(paths.folder, building, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: isCopied,
  });
  // The same files, not copies: a process that waits for a lock or holds one keeps it.
  for (const file of locks) await link(file, join(building, file.slice(paths.folder.length + 1)));
  for (const { from, to } of upgrade.renames) await rename(join(building, from), join(building, to));
  for (const [file, text] of upgrade.tasks) await writeFile(join(building, file), text);
  await writeFile(join(building, 'manager.md'), upgrade.manager);
  await writeFile(join(building, 'table.csv'), upgrade.table);
  await chmod(building, (await stat(paths.folder)).mode & 0o777);
  for (const entry of await readdir(building, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) await sync(join(entry.parentPath, entry.name));
  }
  await sync(building);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name)) return name;
  }
}
