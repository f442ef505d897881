import type { Emit } from '../../core/model/events.ts';
import { createRecord, findRecord } from '../../store/folder/documents/protection-record.ts';
import { type ShiftPaths, shiftsFolder } from '../../store/folder/layout.ts';
import { ProtectedFiles, type PutBackFile } from '../../watch/protected-files.ts';
import type { World } from '../world.ts';
import { gitProgram } from './git-program.ts';
import { keysOfWriters } from './open-files.ts';
import { outputFinder } from './own-output.ts';

/** `isShared`: other machines restore the same files. */
export function protectFiles(paths: ShiftPaths, world: World, emit: Emit, { isShared = false } = {}): ProtectedFiles {
  return new ProtectedFiles({
    isShared,
    root: paths.root,
    leftOut: shiftsFolder(paths.root),
    shiftFolder: paths.folder,
    kept: paths.putBack,
    git: gitProgram(paths.root, world),
    ownOutput: outputFinder(),
    createRecord: () => createRecord(paths.protection),
    findRecord: () => findRecord(paths.protection),
    writers: keysOfWriters,
    report: (file) => emit({ type: 'edit:reverted', file: file.path, what: describe(file), ...keptOf(file) }),
    warn: (message) => emit({ type: 'run:warning', message }),
  });
}

function keptOf({ kept }: PutBackFile): { kept?: string } {
  return kept === undefined ? {} : { kept };
}

function describe({ running, isLeft }: PutBackFile): string {
  if (isLeft) return 'protected; changed during a run that was killed';
  const rows = [...new Set(running.map(({ index }) => index + 1))].sort((a, b) => a - b);
  if (rows.length === 0) return 'protected; changed while no row was running';
  const who = rows.length === 1 ? `row ${rows[0]} was` : `rows ${rows.join(', ')} were`;
  return `protected; changed while ${who} running`;
}
