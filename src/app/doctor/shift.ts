import { constants, existsSync } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { endMarked, findMarked } from '../../agents/process/leftovers.ts';
import { AgentSet } from '../../agents/registry.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { systemError } from '../../core/model/system-errors.ts';
import type { CellEdit } from '../../core/model/table-edit.ts';
import { cellsAt, countItems } from '../../core/schedule/plan.ts';
import { count } from '../../core/text/count.ts';
import type { Upgrade } from '../../formats/older.ts';
import { editCells } from '../../formats/table.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { diskError, TEMPORARY } from '../../store/folder/files/atomic-write.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { readUpgrade, upgradeShift } from '../../store/folder/older-shift.ts';
import { currentHolder, lockForCommand } from '../../store/folder/run-lock.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { failpointFrom } from '../run/failpoint.ts';
import { adoptOrRepeat, leftItems, whereLeft } from '../run/left-items.ts';
import { requireAgents, requireModels } from '../run/plan-run.ts';
import { unprotectedFiles } from '../run/unprotected-files.ts';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';
import { strayedFiles } from './strayed-files.ts';
import { workspaceFindings } from './workspaces.ts';

/** Finds everything that is known to go wrong with a shift, each with a remedy. Writes nothing. */
export async function checkShift(world: World, root: string, name: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  let isCured = false;
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      findings.push(problemOf(error, name));
      isCured = error instanceof NightshiftError && (error.code === 'bad-name' || error.code === 'bad-table');
      return undefined;
    }
  };
  const paths = await attempt(async () => openShift(root, name));
  if (!paths) return findings;
  const opened = await attempt(() => openAndCheck(paths));
  await using agents = new AgentSet();
  if (opened) {
    await attempt(async () => {
      await requireAgents(opened.shift, agents, world);
      await requireModels(opened.shift, agents, world);
    });
  }
  const older = await olderFinding(paths, opened === undefined);
  // The upgrade fixes these.
  if (older?.fixable && isCured) findings.length = 0;
  if (older) findings.push(older);
  const closed = await readOnly(paths);
  findings.push(...closed);
  const isRunning = currentHolder(paths.runLock) !== undefined;
  if (opened) {
    findings.push(...(await statusFindings(opened, { paths, world, isRunning })));
    const unprotected = await unprotectedFiles(world, paths, opened);
    findings.push(...unprotected.map((each): Finding => ({ level: 'note', shift: name, ...each })));
    findings.push(...(await strayedFiles(paths, opened)));
    // What can't be written may not be readable, either.
    if (closed.length === 0) findings.push(...(await workspaceFindings(world, paths, opened)));
  }
  findings.push(...(await leftovers(paths, isRunning)));
  if (opened && findings.every(({ level }) => level === 'note')) {
    const { completed, total, failed } = countItems(opened.snapshot);
    const running = isRunning ? ', running' : '';
    findings.unshift({
      level: 'ok',
      shift: name,
      message: `${completed}/${total} completed, ${failed} failed${running}`,
    });
  }
  return findings;
}

/** Throws on what is neither wrong input nor a wrong environment: that is a bug. */
export function problemOf(thrown: unknown, shift: string): Finding {
  const error = systemError(thrown) ?? thrown;
  if (!(error instanceof NightshiftError)) throw error;
  const { message, hint: remedy, file, line } = error;
  return {
    level: 'problem',
    shift,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}

async function olderFinding(paths: ShiftPaths, isBroken: boolean): Promise<Finding | undefined> {
  const { changes, obstacles } = await readUpgrade(paths).catch((error: unknown): Partial<Upgrade> => {
    // Reported already.
    if (error instanceof NightshiftError) return {};
    throw error;
  });
  if (!changes || changes.length + (obstacles?.length ?? 0) === 0) return undefined;
  if (obstacles && obstacles.length > 0) {
    if (!isBroken) return undefined;
    const message = 'an old shift; decide this before it can be updated';
    return {
      level: 'problem',
      shift: paths.name,
      message,
      details: obstacles,
      remedy: 'correct this, then run doctor again',
    };
  }
  return {
    level: isBroken ? 'problem' : 'note',
    shift: paths.name,
    message: 'an old shift; it needs these changes:',
    details: changes,
    remedy: '`nightshift doctor --fix` makes these changes, and keeps a backup',
    fixable: true,
  };
}

/** Reports only the first file that a run could not write. */
async function readOnly({ name, folder, engine, journal, runLock }: ShiftPaths): Promise<Finding[]> {
  for (const file of [folder, engine, journal, runLock]) {
    try {
      await access(file, constants.W_OK);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return [problemOf(diskError(cause, file), name)];
    }
  }
  return [];
}

interface Surroundings {
  readonly paths: ShiftPaths;
  readonly world: World;
  readonly isRunning: boolean;
}

async function statusFindings(
  { shift, snapshot }: OpenShift,
  { paths, world, isRunning }: Surroundings,
): Promise<Finding[]> {
  const { name } = shift;
  const findings = shift.warnings.map((message): Finding => ({ level: 'note', shift: name, message }));
  const stale = isRunning ? 0 : cellsAt(snapshot, 'in_progress').length;
  if (stale === 0) return findings;
  const left = await leftItems(paths, snapshot, world);
  if (left) {
    findings.push({ level: 'problem', shift: name, message: whereLeft(left), remedy: adoptOrRepeat(name, left) });
    return findings;
  }
  const message = `${count(stale, 'item-task')} in_progress, but the shift is not running`;
  const remedy = `\`nightshift start ${name}\` gives them back and continues; \`doctor --fix\` only gives them back`;
  findings.push({ level: 'problem', shift: name, message, remedy, fixable: true });
  return findings;
}

async function leftovers(paths: ShiftPaths, isRunning: boolean): Promise<Finding[]> {
  const shift = paths.name;
  const files = await readdir(paths.folder).catch(() => []);
  const putBack = files.filter((file) => file.includes('.put-back-'));
  const findings: Finding[] = [];
  if (putBack.length > 0) {
    const message = 'edits that a run reverted are kept';
    findings.push({
      level: 'note',
      shift,
      message,
      details: putBack,
      remedy: 'take what you need from it, then remove it',
    });
  }
  if (isRunning) return findings;
  const pids = await findMarked({ shiftFolder: paths.folder });
  if (pids.length > 0) {
    const message = `${processes(pids.length)} of an earlier run are still running`;
    const remedy = `\`doctor --fix\` ends them (${pids.join(', ')}); so does the next start`;
    findings.push({ level: 'problem', shift, message, remedy, fixable: true });
  }
  const temporary = files.filter((file) => TEMPORARY.test(file));
  if (temporary.length > 0) {
    const message = 'half-written files of an interrupted write';
    const remedy = '`doctor --fix` removes them; so does the next start';
    findings.push({ level: 'problem', shift, message, details: temporary, remedy, fixable: true });
  }
  return findings;
}

/** Fixes what a program can fix and returns what it did, in words. Leaves a running shift alone. */
export async function fixShift(world: World, root: string, name: string): Promise<string[]> {
  const paths = await Promise.resolve()
    .then(() => openShift(root, name))
    .catch(() => undefined);
  if (!paths || currentHolder(paths.runLock)) return [];
  const done: string[] = [];
  const older = await olderFinding(paths, true);
  if (older?.fixable) {
    const upgraded = await upgradeShift(paths, world.now(), failpointFrom(world.env));
    if (upgraded) {
      done.push(...upgraded.upgrade.changes.map((change) => `${name}: ${change}`));
      done.push(`${name}: the backup is in ${upgraded.kept}`);
    }
  }
  const ended = await endLeftovers(world, paths);
  if (ended > 0) done.push(`${name}: ${processes(ended)} ended`);
  const files = await readdir(paths.folder);
  if (files.some((file) => TEMPORARY.test(file))) {
    await new ShiftFiles(paths).prepare();
    done.push(`${name}: half-written files removed`);
  }
  const given = await giveBack(world, paths);
  if (given > 0) done.push(`${name}: ${count(given, 'item-task')} given back to todo`);
  return done;
}

/** Under the run lock, so that a run that starts now does not lose its agents. */
async function endLeftovers(world: World, paths: ShiftPaths): Promise<number> {
  if (!existsSync(paths.engine)) return 0;
  using _run = await lockForCommand(paths, 'doctor', world.now());
  return await endMarked({ shiftFolder: paths.folder });
}

function processes(number: number): string {
  return number === 1 ? '1 process' : `${number} processes`;
}

async function giveBack(world: World, paths: ShiftPaths): Promise<number> {
  const opened = await openAndCheck(paths).catch((error: unknown) => {
    if (error instanceof NightshiftError) return undefined;
    throw error;
  });
  if (!opened || cellsAt(opened.snapshot, 'in_progress').length === 0) return 0;
  // Another run would do them again while workers are still working on them.
  if (await leftItems(paths, opened.snapshot, world)) return 0;
  const tasks = opened.snapshot.tasks;
  return changeTable(
    paths,
    (table) => {
      // A run that started in between has claimed them itself.
      if (existsSync(paths.runLock) && currentHolder(paths.runLock)) return { table, answer: 0 };
      const stale = tasks.flatMap((task) => {
        const column = table.columnOf(task);
        const rows = Array.from({ length: table.rowCount }, (_, row) => row);
        return rows
          .filter((row) => table.cell(row, column) === 'in_progress')
          .map((row) => ({ row, column, value: 'todo' }));
      });
      return { table: editCells(table, stale), answer: stale.length, edits: [] as CellEdit[] };
    },
    world.now,
  );
}
