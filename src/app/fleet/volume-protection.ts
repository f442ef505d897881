import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Emit } from '../../core/model/events.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import type { Site } from '../../engine/worker/worker-ports.ts';
import { RECORDED_FILES } from '../../store/folder/documents/protection-record.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { protectFiles } from '../run/protect-files.ts';
import type { World } from '../world.ts';

interface Known {
  readonly mark: string;
  readonly protection: Promise<Site['protection']>;
}

/**
 * Protected files on a shared volume (rule D5). The coordinator has recorded there how they were at the start of the
 * run; workers compare with that, restore files, and repeat checks.
 */
export class VolumeProtection {
  readonly #world: World;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Known>();

  constructor(world: World, warn: (message: string) => void) {
    this.#world = world;
    this.#warn = warn;
  }

  of(paths: ShiftPaths): Promise<Site['protection']> {
    const mark = markOf(paths);
    if (mark === undefined) return Promise.resolve(NO_PROTECTION);
    const known = this.#known.get(paths.folder);
    if (known?.mark === mark) return known.protection;
    const protection = this.#open(paths);
    this.#known.set(paths.folder, { mark, protection });
    return protection;
  }

  async #open(paths: ShiftPaths): Promise<Site['protection']> {
    const emit: Emit = (happening) => {
      if (happening.type === 'run:warning') this.#warn(happening.message);
      if (happening.type === 'edit:reverted') this.#warn(`restored ${happening.file}: ${happening.what}`);
    };
    const protection = protectFiles(paths, this.#world, emit, { isShared: true });
    await protection.resume();
    return {
      // The coordinator does that before it sends the order.
      hold: async () => {},
      enter: (item) => protection.enter(item),
      trespassOf: (token, calls) => protection.trespassOf(token, calls),
      observe: (run) => protection.observe(run),
    };
  }
}

/** Another one: another run has recorded the files, or more of them. */
function markOf(paths: ShiftPaths): string | undefined {
  const found = statSync(join(paths.protection, RECORDED_FILES), { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size}`;
}
