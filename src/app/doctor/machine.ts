import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { findConfiner } from '../../agents/process/sandbox.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { tryLock } from '../../store/folder/files/flock.ts';
import { archiveFolder, listShifts, shiftsFolder } from '../../store/folder/layout.ts';
import type { World } from '../world.ts';
import { checkAgentPrograms } from './agents.ts';
import type { Finding } from './finding.ts';

const OLDEST_NODE = [20, 19] as const;
/** With less, the transcripts of a night may not fit. */
const LEAST_FREE_BYTES = 100 * 2 ** 20;

/** Everything but the shifts: Node, locks, disk, git, agents. `folder` is where the shifts are or would be. */
export async function checkMachine(world: World, root: string | undefined): Promise<Finding[]> {
  const folder = root === undefined ? world.cwd : shiftsFolder(root);
  return [
    checkNode(process.versions.node),
    checkLocks(folder),
    await checkDisk(folder),
    ...(await checkGit(root ?? world.cwd)),
    ...(await checkAgentPrograms(world, root ?? world.cwd)),
    await checkSandbox(),
  ];
}

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = OLDEST_NODE;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok(`Node ${version}`);
  const message = `Node ${version} is older than ${OLDEST_NODE.join('.')}`;
  return { level: 'problem', message, remedy: 'install a newer one from https://nodejs.org' };
}

/** On some network file systems, two processes can hold the same lock. */
function checkLocks(folder: string): Finding {
  const file = join(folder, `.doctor-${process.pid}.lock`);
  try {
    using first = tryLock(file);
    using second = tryLock(file);
    if (first && !second) return ok('locks work on this file system');
    return lockProblem('locks do not exclude each other on this file system', 'keep shifts on a local disk', folder);
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return lockProblem(error.message, error.hint, folder);
  } finally {
    rmSync(file, { force: true });
  }
}

function lockProblem(message: string, remedy: string | undefined, file: string): Finding {
  return { level: 'problem', message, file, ...(remedy === undefined ? {} : { remedy }) };
}

async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const said = `${free < 2 ** 30 ? `${Math.floor(free / 2 ** 20)} MB` : `${Math.floor(free / 2 ** 30)} GB`} free on the disk`;
  if (free >= LEAST_FREE_BYTES) return ok(said);
  return {
    level: 'problem',
    message: `only ${said}`,
    file: folder,
    remedy: 'make room: transcripts need space',
  };
}

async function checkGit(root: string): Promise<Finding[]> {
  const version = await git(root, ['--version']);
  if (version.code !== 0) {
    return [{ level: 'note', message: 'git is not installed', remedy: 'with git you can see what a run changed' }];
  }
  const name = version.stdout.trim();
  if ((await git(root, ['rev-parse', '--is-inside-work-tree'])).stdout.trim() !== 'true') {
    return [{ level: 'note', message: `${name}, but this is not a git repository` }];
  }
  const tracked = (await git(root, ['ls-files', '-z', '--', '.nightshift'])).stdout
    .split('\0')
    .filter((file) => /(^|\/)\.env$/.test(file));
  const there = secretFiles(root).filter((file) => !tracked.includes(file));
  const open: string[] = [];
  for (const file of there) if ((await git(root, ['check-ignore', '-q', '--', file])).code === 1) open.push(file);
  const cleaned = await lostToCleaning(root);
  if (tracked.length + open.length === 0) return [ok(`${name}; no .env of a shift is tracked`), ...cleaned];
  return [
    ...cleaned,
    ...tracked.map((file): Finding => {
      const remedy = `\`git rm --cached ${file}\`, commit, and change the secrets: they are in the history`;
      return { level: 'problem', message: 'git tracks a file with secrets', file, remedy };
    }),
    ...open.map((file): Finding => {
      const remedy = '`nightshift init` writes the .gitignore again';
      return { level: 'problem', message: 'git does not ignore a file with secrets', file, remedy, fixable: true };
    }),
  ];
}

/** Whether `sandbox: true` works here. Few shifts ask for it, so it is only a note; their own check says more. */
async function checkSandbox(): Promise<Finding> {
  const here = await findConfiner();
  if ('file' in here) return ok(`the sandbox works (${here.file})`);
  return { level: 'note', message: `no sandbox: ${here.reason}`, remedy: here.remedy };
}

/** What `git clean -x` would remove: untracked shifts as a whole, and the ignored files of the others. */
async function lostToCleaning(root: string): Promise<Finding[]> {
  const isTracked = async (file: string) => (await git(root, ['ls-files', '-z', '--', file])).stdout !== '';
  const shifts = listShifts(root).map((shift) => join(relative(root, shiftsFolder(root)), shift));
  const untracked: string[] = [];
  const kept: string[] = [];
  for (const shift of shifts) {
    if (!(await isTracked(`${shift}/table.csv`))) untracked.push(shift);
    for (const file of [`${shift}/.engine`, `${shift}/.env`]) {
      if (existsSync(join(root, file)) && !(await isTracked(file))) kept.push(file);
    }
  }
  const remedy = 'clean with `git clean -fdx -e .nightshift`';
  const spent = 'what was spent is also recorded outside of the project';
  return [
    ...note(
      untracked,
      '`git clean -fdx` removes a shift as a whole: git does not track its table',
      `commit it, or ${remedy}`,
    ),
    ...note(
      kept,
      `\`git clean -fdx\` removes secrets, reasons of failures, recommendations, transcripts and versions; ${spent}`,
      remedy,
    ),
  ];
}

function note(details: readonly string[], message: string, remedy: string): Finding[] {
  return details.length === 0 ? [] : [{ level: 'note', message, details, remedy }];
}

/** The `.env` files of shifts, archived shifts and backups. */
function secretFiles(root: string): string[] {
  const folder = shiftsFolder(root);
  const homes = [folder, archiveFolder(root)].flatMap((each) => foldersIn(each).map((name) => join(each, name)));
  return homes.map((home) => join(home, '.env')).flatMap((file) => (existsSync(file) ? [relative(root, file)] : []));
}

/** A folder that can't be read is reported when its shift is checked. */
function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Git runs no program that the repository's configuration names. */
function git(root: string, args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const safe = ['-c', 'core.fsmonitor=false', '-C', root, ...args];
  return new Promise((resolve) => {
    execFile('git', safe, { maxBuffer: 2 ** 28, env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' } }, (error, stdout) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout });
    });
  });
}

function ok(message: string): Finding {
  return { level: 'ok', message };
}
