import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../../store/folder/files/flock.ts';
import { replaceInside } from '../../store/folder/files/inside.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { DeliveryParts } from '../../workspace/delivery/outgoing.ts';
import { repositoryLockFile } from '../state-folder.ts';
import type { World } from '../world.ts';
import { personProgram } from './person-program.ts';

type OwnParts = Pick<DeliveryParts, 'git' | 'records' | 'openDesk' | 'failpoint'>;

/** What deliveries need on this machine. */
export function deliveryParts(paths: ShiftPaths, world: World, own: OwnParts): DeliveryParts {
  return {
    ...own,
    shift: paths.name,
    lock: (repository, signal) => lockRepository(world, repository, signal),
    runProgram: personProgram(world, paths.folder),
    patches: {
      folder: join(paths.folder, 'patches'),
      replace: (file, bytes) => replaceInside({ base: paths.folder }, file, bytes),
    },
    now: () => new Date(world.now()).toISOString(),
  };
}

const POLL_MS = 100;

/**
 * Waits as long as it takes: the checks of another merge may run for hours. Other shifts merge there, too. It is not
 * the lock under which working trees are added.
 */
async function lockRepository(world: World, repository: string, signal: AbortSignal): Promise<Disposable> {
  const file = repositoryLockFile(world, 'merge', repository);
  for (;;) {
    signal.throwIfAborted();
    const lock = tryLock(file);
    if (lock) return lock;
    await sleep(POLL_MS);
  }
}
