import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALM, ownSettings, renderSettings, type Settings } from './settings.ts';

/** Branches and objects are those of the repository at any time. */
const SHARED = ['objects', 'refs', 'packed-refs', 'reftable', 'shallow', 'worktrees'];

export interface StandIn {
  readonly commonDir: string;
  readonly settings: Settings;
  readonly hooks: string;
  /** The ignore rules, `info/exclude`. */
  readonly exclude: string;
}

/**
 * Makes a folder that stands for the `.git` of a repository. Agents can write that one, and git obeys its settings, or
 * fails if they are broken. The folder shares its branches and objects, and has settings of its own.
 */
export function makeStandIn(folder: string, { commonDir, settings, hooks, exclude }: StandIn): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'info'), { recursive: true, mode: 0o700 });
  // Git can't make a folder where a link leads to nothing.
  const shared = existsSync(join(commonDir, 'logs')) ? [...SHARED, 'logs'] : SHARED;
  for (const name of shared) symlinkSync(join(commonDir, name), join(folder, name));
  const taken = ownSettings(settings, ['extensions\\.(worktreeconfig|relativeworktrees)|worktree\\..*']);
  const own: Settings = [...taken, ['core.hookspath', hooks], ['core.fsmonitor', 'false'], ...CALM];
  writeFileSync(join(folder, 'config'), renderSettings(own), { mode: 0o600 });
  writeFileSync(join(folder, 'info', 'exclude'), exclude);
  // Without one it is no repository. Git does not take a link; what is checked out is asked elsewhere.
  if (existsSync(join(commonDir, 'HEAD'))) copyFileSync(join(commonDir, 'HEAD'), join(folder, 'HEAD'));
}
