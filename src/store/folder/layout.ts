import { existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { checkShiftName, checkTaskName, nearest } from '../../core/model/names.ts';
import { folderOf } from './files/inside.ts';

const FOLDER = '.nightshift';
const ARCHIVE = 'archive';

/** The content of `.nightshift/.gitignore`: secrets, locks, what the engine keeps, reports, and what `qsv edit -i` leaves. */
export const GITIGNORE =
  '.env\n.env.in-force\n*.lock\n.engine/\n*.nightshift-tmp\n*.put-back-*\n.before-doctor-*\n.doctor-new-*\ntable.csv.bak\nreport.html\n.fleet-volume\n';

/** The paths of one shift. */
export interface ShiftPaths {
  readonly name: string;
  /** The folder that holds `.nightshift`: where agents work unless `working-dir` says otherwise. */
  readonly root: string;
  readonly folder: string;
  readonly manager: string;
  readonly table: string;
  readonly lock: string;
  readonly env: string;
  /** What was learned: the state of every lesson. */
  readonly lessons: string;
  /** The dot folder of the engine: journal, transcripts, versions, run lock. */
  readonly engine: string;
  readonly journal: string;
  /** What ids are derived from since columns were changed. */
  readonly identity: string;
  readonly runLock: string;
  /** What another process asks of a run, and what the run obeys. */
  readonly control: string;
  readonly controlState: string;
  /** The report of the last run. */
  readonly report: string;
  /** The output of a run in the background. */
  readonly runLog: string;
  /** What is in force while items may run. The text of `.env` is in a file of its own. */
  readonly inForce: string;
  readonly envInForce: string;
  /** What you put in force with a command meanwhile. */
  readonly accepted: string;
  /** The batch opened by hand, while it is open. */
  readonly batch: string;
  /** The prompts of that batch. */
  readonly prompts: string;
  /** Protected files at the start of a run, while it is active. */
  readonly protection: string;
  /** Versions of protected files that a run undid. */
  readonly putBack: string;
  /** The records of workspaces, one file for each row. */
  readonly workspaces: string;
  /** The engine's own repositories, one for each workspace. */
  readonly desks: string;
  /** Hooks and configuration of repositories, as they were when the run began. */
  readonly sources: string;
  task(name: string): string;
  versions(task: string): string;
  transcript(task: string, key: string, role: string): string;
  workspaceRecord(item: string): string;
  desk(item: string): string;
}

/** `folder`: of a shift that is not in its place, because it is archived. */
export function shiftPaths(root: string, name: string, folder = join(root, FOLDER, name)): ShiftPaths {
  checkShiftName(name);
  const engine = join(folder, '.engine');
  return {
    name,
    root,
    folder,
    manager: join(folder, 'manager.md'),
    table: join(folder, 'table.csv'),
    lock: join(folder, 'table.csv.lock'),
    env: join(folder, '.env'),
    lessons: join(folder, 'lessons.json'),
    engine,
    journal: join(engine, 'journal.jsonl'),
    identity: join(engine, 'identity.json'),
    runLock: join(engine, 'run.lock'),
    control: join(engine, 'control.json'),
    controlState: join(engine, 'control-state.json'),
    report: join(folder, 'report.html'),
    runLog: join(engine, 'run.log'),
    inForce: join(engine, 'in-force.json'),
    envInForce: join(folder, '.env.in-force'),
    accepted: join(engine, 'accepted.json'),
    batch: join(engine, 'batch.json'),
    prompts: join(engine, 'prompts'),
    protection: join(engine, 'protected'),
    putBack: join(engine, 'put-back'),
    workspaces: join(engine, 'workspaces'),
    desks: join(engine, 'desks'),
    sources: join(engine, 'sources'),
    task: (task) => {
      checkTaskName(task);
      return join(folder, `${task}.md`);
    },
    versions: (task) => join(engine, 'versions', withoutPath(task)),
    transcript: (task, key, role) =>
      join(engine, 'transcripts', withoutPath(task), `${withoutPath(key)}-${withoutPath(role)}.jsonl`),
    workspaceRecord: (item) => join(engine, 'workspaces', `${withoutPath(item)}.json`),
    desk: (item) => join(engine, 'desks', withoutPath(item)),
  };
}

/** Keys, tasks, roles and ids may also come from others: from files that they write, or from workers. */
function withoutPath(name: string): string {
  return name.replace(/[^\w-]/g, '_');
}

/**
 * Creates a folder inside a shift's folder, with its parents. Never the shift's folder itself: one that was moved
 * away must not come back empty. A link in the place of a folder is set aside.
 */
export function makeFolder(shift: string, folder: string): void {
  folderOf(shift, join(folder, 'any'))[Symbol.dispose]();
}

export function shiftsFolder(root: string): string {
  return join(root, FOLDER);
}

export function archiveFolder(root: string): string {
  return join(root, FOLDER, ARCHIVE);
}

/** The nearest folder at or above `from` that holds `.nightshift`, as git looks for `.git`. */
export function findRoot(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, FOLDER))) return realpathSync(folder);
    if (folder === dirname(folder)) return undefined;
  }
}

export function listShifts(root: string): string[] {
  const folder = join(root, FOLDER);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isDirectory()) throw notAFolder(folder);
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== ARCHIVE && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort();
}

/** What can't be read is reported later, when it is needed. */
function isLink(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

function notAFolder(file: string): NightshiftError {
  return new NightshiftError('bad-folder', `${file} is not a folder`, 'remove it or rename it', { file });
}

/** The paths of a shift that is there; refuses one that leads elsewhere (rule F1). */
export function openShift(root: string, name: string): ShiftPaths {
  const paths = shiftPaths(root, name);
  const found = lstatSync(paths.folder, { throwIfNoEntry: false });
  if (!found) {
    const known = listShifts(root);
    const near = nearest(name, known);
    const hint = near
      ? `did you mean ${near}?`
      : known.length > 0
        ? `there are: ${known.join(', ')}`
        : `create it with \`nightshift create ${name}\``;
    throw new NightshiftError('not-found', `there is no shift ${name} in ${shiftsFolder(root)}`, hint);
  }
  refuseLinks(paths, found);
  return paths;
}

/** The paths of an archived shift, by its name and its folder in the archive. */
export function openArchived(root: string, name: string, inArchive: string): ShiftPaths {
  const paths = shiftPaths(root, name, join(archiveFolder(root), inArchive));
  const found = lstatSync(paths.folder, { throwIfNoEntry: false });
  if (!found) throw new NightshiftError('not-found', `${paths.folder} is gone`, 'was it unarchived?');
  refuseLinks(paths, found);
  return paths;
}

function refuseLinks(paths: ShiftPaths, found: Stats): void {
  if (found.isSymbolicLink()) {
    throw new NightshiftError(
      'bad-folder',
      `${paths.folder} is a symbolic link to elsewhere`,
      'put the shift folder itself there: Nightshift writes only inside of it',
      { file: paths.folder },
    );
  }
  if (!found.isDirectory()) throw notAFolder(paths.folder);
  for (const file of [paths.lock, paths.engine, paths.runLock, paths.journal]) {
    if (isLink(file)) {
      const hint = 'remove the link: Nightshift writes only inside of the shift folder';
      throw new NightshiftError('bad-folder', `${file} is a symbolic link`, hint, { file });
    }
  }
}
