import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { openAndCheck } from '../../app/open-shift.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { diskError } from '../../store/folder/files/atomic-write.ts';
import { archiveFolder, openShift } from '../../store/folder/layout.ts';
import { takeRunLock } from '../../store/folder/run-lock.ts';
import { count } from '../../views/plain.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], { force, json }: Options): Promise<number> {
  const root = requireRoot(io);
  const paths = openShift(root, name);
  if (!force) {
    const { snapshot } = await openAndCheck(paths);
    const { total, completed } = countItems(snapshot);
    if (completed < total) {
      const hint = `\`nightshift status ${name}\` says why; --force archives it as it is`;
      throw new NightshiftError('usage', `${count(total - completed, 'item')} of ${name} not completed yet`, hint);
    }
  }
  const now = new Date(io.now()).toISOString();
  await new ShiftFiles(paths).prepare();
  // Held while it is moved: nobody starts a shift that is on its way.
  using _lock = await takeRunLock(paths, { pid: process.pid, since: now, run: 'archive' });
  const target = freeName(join(archiveFolder(root), `${now.slice(0, 10)}-${name}`));
  try {
    await mkdir(archiveFolder(root), { recursive: true });
    await rename(paths.folder, target);
  } catch (cause) {
    throw diskError(cause, target);
  }
  io.print(json ? JSON.stringify({ shift: name, folder: target }) : `${name} is in ${target}`);
  return EXIT.done;
}

/** A second shift of that name on the same day gets a number. */
function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const target = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(target)) return target;
  }
}
