import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkMachine } from '../../app/doctor/machine.ts';
import { checkShift, fixShift, problemOf } from '../../app/doctor/shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import { findRoot, listShifts, shiftsFolder } from '../../store/folder/layout.ts';
import { initRoot } from '../../store/folder/new-shift.ts';
import { finishUpgrade, interruptedUpgrades } from '../../store/folder/older-shift.ts';
import { type Finding, findingLines } from '../../views/findings.ts';
import { count } from '../../views/plain.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** A folder that is being made is younger than this. */
const FORGOTTEN_MS = 10 * 60_000;

export async function run(io: Io, _args: readonly string[], { fix, json }: Options): Promise<number> {
  const root = findRoot(io.cwd);
  const { fixed, failed } = fix && root !== undefined ? await fixAll(io, root) : { fixed: [], failed: [] };
  const findings = [...(await checkMachine(io, root)), ...(await checkFolder(io, root)), ...failed];
  const problems = findings.filter(({ level }) => level === 'problem');
  const exitCode = problems.length > 0 ? EXIT.badInput : EXIT.done;
  if (json) {
    io.print(JSON.stringify({ root: root ?? null, problems: problems.length, fixed, findings }));
    return exitCode;
  }
  for (const line of fixed) io.print(`fixed    ${line}`);
  for (const line of findings.flatMap(findingLines)) io.print(line);
  io.print('');
  io.print(verdict(findings, problems));
  return exitCode;
}

function verdict(findings: readonly Finding[], problems: readonly Finding[]): string {
  const fixable = findings.filter(({ fixable }) => fixable === true).length;
  const can = fixable > 0 ? ` \`nightshift doctor --fix\` can put ${fixable} of this right.` : '';
  return `${problems.length === 0 ? 'No problems.' : `${count(problems.length, 'problem')}.`}${can}`;
}

async function checkFolder(io: Io, root: string | undefined): Promise<Finding[]> {
  if (root === undefined) {
    const remedy = '`nightshift create NAME` makes a first shift, `nightshift demo` shows one at work';
    return [{ level: 'note', message: 'there is no .nightshift folder here or above', remedy }];
  }
  const findings: Finding[] = [];
  for (const shift of await interruptedUpgrades(root)) {
    const message = 'a doctor was ended while it put the shift in its place';
    findings.push({ level: 'problem', shift, message, remedy: '`nightshift doctor --fix` finishes it', fixable: true });
  }
  for (const file of await forgotten(io, root)) {
    const message = 'a folder that was never finished';
    findings.push({ level: 'problem', message, file, remedy: '`nightshift doctor --fix` removes it', fixable: true });
  }
  for (const name of listShifts(root)) findings.push(...(await checkShift(io, root, name)));
  return findings;
}

/** A shift that can't be fixed does not keep others from it. */
async function fixAll(io: Io, root: string): Promise<{ fixed: string[]; failed: Finding[] }> {
  const fixed: string[] = [];
  const failed: Finding[] = [];
  if ((await initRoot(root)).changed) fixed.push('.nightshift/.gitignore has what it needs');
  for (const shift of await interruptedUpgrades(root)) {
    await finishUpgrade(root, shift);
    fixed.push(`${shift}: put in its place`);
  }
  for (const file of await forgotten(io, root)) {
    await rm(file, { recursive: true });
    fixed.push(`${file} removed`);
  }
  for (const name of listShifts(root)) {
    try {
      fixed.push(...(await fixShift(io, root, name)));
    } catch (error) {
      failed.push(problemOf(error, name));
    }
  }
  return { fixed, failed };
}

/** What a `create` or a `doctor` that was killed has left. */
async function forgotten(io: Io, root: string): Promise<string[]> {
  const folder = shiftsFolder(root);
  const waiting = (await interruptedUpgrades(root)).map((shift) => `.doctor-new-${shift}`);
  const names = (await readdir(folder)).filter((name) => /^\.(new|doctor-new)-/.test(name) && !waiting.includes(name));
  const found: string[] = [];
  for (const name of names) {
    const file = join(folder, name);
    if (io.now() - (await stat(file)).ctimeMs > FORGOTTEN_MS) found.push(file);
  }
  return found;
}
