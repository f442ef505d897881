import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { initRoot } from '../../store/folder/init-root.ts';
import { findRoot, listShifts, shiftsFolder } from '../../store/folder/layout.ts';
import { finishUpgrade, interruptedUpgrades } from '../../store/folder/older-shift.ts';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';
import { checkMachine } from './machine.ts';
import { checkShift, fixShift, problemOf } from './shift.ts';

/** A younger folder may belong to a command that is still at work. */
const FORGOTTEN_MS = 10 * 60_000;

interface Diagnosis {
  readonly root: string | null;
  readonly problems: number;
  /** What was fixed, in words. */
  readonly fixed: readonly string[];
  readonly findings: readonly Finding[];
}

/** Looks for all known problems; `fix`: first fixes what can be fixed. */
export async function diagnose(world: World, fix: boolean): Promise<Diagnosis> {
  const root = findRoot(world.cwd);
  const { fixed, failed } = fix && root !== undefined ? await fixAll(world, root) : { fixed: [], failed: [] };
  const findings = [...(await checkMachine(world, root)), ...(await checkFolder(world, root)), ...failed];
  const problems = findings.filter(({ level }) => level === 'problem').length;
  return { root: root ?? null, problems, fixed, findings };
}

async function checkFolder(world: World, root: string | undefined): Promise<Finding[]> {
  if (root === undefined) {
    const remedy = '`nightshift create NAME` creates a shift, `nightshift demo` shows an example';
    return [{ level: 'note', message: 'there is no .nightshift folder here or above', remedy }];
  }
  const findings: Finding[] = [];
  for (const shift of await interruptedUpgrades(root)) {
    const message = 'an interrupted `doctor --fix` left this shift unfinished';
    findings.push({ level: 'problem', shift, message, remedy: '`nightshift doctor --fix` finishes it', fixable: true });
  }
  for (const file of await forgottenFolders(world, root)) {
    const message = 'an unfinished folder';
    findings.push({ level: 'problem', message, file, remedy: '`nightshift doctor --fix` removes it', fixable: true });
  }
  for (const name of listShifts(root)) findings.push(...(await checkShift(world, root, name)));
  return findings;
}

/** A shift that can't be fixed does not keep the others from being fixed. */
async function fixAll(world: World, root: string): Promise<{ fixed: string[]; failed: Finding[] }> {
  const fixed: string[] = [];
  const failed: Finding[] = [];
  if ((await initRoot(root)).changed) fixed.push('.nightshift/.gitignore has what it needs');
  for (const shift of await interruptedUpgrades(root)) {
    await finishUpgrade(root, shift);
    fixed.push(`${shift}: finished`);
  }
  for (const file of await forgottenFolders(world, root)) {
    await rm(file, { recursive: true });
    fixed.push(`${file} removed`);
  }
  for (const name of listShifts(root)) {
    try {
      fixed.push(...(await fixShift(world, root, name)));
    } catch (error) {
      failed.push(problemOf(error, name));
    }
  }
  return { fixed, failed };
}

/** Left by a `create` or a `doctor` that was killed. */
async function forgottenFolders(world: World, root: string): Promise<string[]> {
  const folder = shiftsFolder(root);
  const waiting = (await interruptedUpgrades(root)).map((shift) => `.doctor-new-${shift}`);
  const names = (await readdir(folder)).filter((name) => /^\.(new|doctor-new)-/.test(name) && !waiting.includes(name));
  const found: string[] = [];
  for (const name of names) {
    const file = join(folder, name);
    if (world.now() - (await stat(file)).ctimeMs > FORGOTTEN_MS) found.push(file);
  }
  return found;
}
