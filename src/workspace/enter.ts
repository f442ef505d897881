import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { NotThere } from './base.ts';

/** False for a link: an agent may have put one in its place. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The folder of `working-dir`. Git has no empty folders, so it may be missing; links must not lead out. */
export function enter(top: string, below: string): string {
  const folder = join(top, below);
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  const isInside =
    `${folder}${sep}`.startsWith(`${top}${sep}`) &&
    `${realpathSync(there)}${sep}`.startsWith(`${realpathSync(top)}${sep}`);
  if (!isInside) throw new NotThere(`\`working-dir\` ${below} leads out of the workspace`);
  if (!statSync(there).isDirectory()) throw new NotThere(`\`working-dir\` ${below} is not a folder in the workspace`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
