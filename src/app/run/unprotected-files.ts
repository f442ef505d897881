import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fillTemplate, resolveText } from '../../core/language/template.ts';
import { findTraits } from '../../core/model/agent-traits.ts';
import { filesRunBy, type RunFiles } from '../../core/model/check-files.ts';
import { type Shift, type Task, valuesOf } from '../../core/model/shift.ts';
import { globMatcher } from '../../core/text/glob.ts';
import { type ShiftPaths, shiftsFolder } from '../../store/folder/layout.ts';
import type { Snapshot, Store } from '../../store/store.ts';
import { type FoundFiles, findNamed } from '../../watch/listing.ts';
import { type Git, listTracked, openRepository } from '../../watch/repository.ts';
import type { World } from '../world.ts';
import { gitProgram } from './git-program.ts';

/** A file that a step tells the dev to write is the dev's work and needs no protection. */
const WORKED_ON =
  /\b(create|write|generate|add|make(?! sure)|save|produce|build|implement|edit|change|update|modify|rewrite|refactor|fix|translate)\b[^.;]{0,40}$/i;
/** A command that writes the file named after it. */
const LEAVES = /(>|\b(tee|cp|mv|touch|install|curl|wget|git)\b)[^;]*$/;

export interface Unprotected {
  /** Where the script is. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
  readonly remedy: string;
}

interface Checked {
  readonly task: Task;
  readonly folder: string;
  /** The files that git tracks, as absolute paths; undefined outside of a repository. */
  readonly tracked: ReadonlySet<string> | undefined;
  readonly leftOut: string;
}

/** A check, or the program of a `command` agent: it decides about an item and runs in the working folder. */
interface Script {
  readonly name: string;
  readonly file: string;
  readonly runs: readonly RunFiles[];
}

/**
 * Files of the working folder that checks and `command` run and that a dev can rewrite, because `protect:` does not
 * cover them. `row`: the row whose working folder is examined.
 */
export async function unprotectedFiles(
  world: World,
  { root }: Pick<ShiftPaths, 'root'>,
  { shift, snapshot }: { readonly shift: Shift; readonly snapshot: Snapshot },
  row = 0,
): Promise<Unprotected[]> {
  const found = new Map<string, Unprotected>();
  const listed = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  for (const task of shift.tasks) {
    const scripts = scriptsOf(task).filter(({ runs }) => runs.length > 0);
    if (scripts.length === 0 || row >= snapshot.count) continue;
    const text = fillTemplate(task.workingDir, valuesOf(shift, snapshot.metadata(row)));
    const folder = real(resolve(root, resolveText(text, shift.secrets)));
    if (!listed.has(folder)) listed.set(folder, trackedIn(gitProgram(root, world), folder));
    const checked = { task, folder, tracked: await listed.get(folder), leftOut: shiftsFolder(root) };
    for (const script of scripts) {
      for (const files of script.runs) {
        const unprotected = await findUnprotected(checked, script, files);
        if (unprotected && !found.has(unprotected.message)) found.set(unprotected.message, unprotected);
      }
    }
  }
  return [...found.values()];
}

/** One line for each file. Does not keep the snapshot, which may be large. */
export async function unprotectedLines(world: World, shift: Shift, store: Pick<Store, 'snapshot'>): Promise<string[]> {
  const found = await unprotectedFiles(world, shift, { shift, snapshot: await store.snapshot() });
  return found.map(unprotectedLine);
}

export function unprotectedLine({ file, line, message, remedy }: Unprotected): string {
  return `${file}:${line}: ${message}; ${remedy}`;
}

async function trackedIn(git: Git, folder: string): Promise<ReadonlySet<string> | undefined> {
  const { signal } = new AbortController();
  const repository = await openRepository(git, folder, signal);
  const tracked = repository && (await listTracked(git, repository, signal));
  return tracked && new Set(tracked.files);
}

function scriptsOf(task: Task): Script[] {
  const checks = task.criteria.flatMap(({ check }) =>
    check ? [{ name: 'the check', file: task.file, runs: filesRunBy(check) }] : [],
  );
  const { agent, qaAgent, command } = task.settings;
  const runsIt = [agent, qaAgent].some((name) => name !== undefined && findTraits(name)?.needs === 'command');
  if (command === undefined || !runsIt) return checks;
  const { file = task.file, line = 1 } = task.place('command');
  return [...checks, { name: 'the command', file, runs: filesRunBy({ parts: [command], line }) }];
}

async function findUnprotected(
  checked: Checked,
  { name, file: from }: Script,
  { anyOf, by, line }: RunFiles,
): Promise<Unprotected | undefined> {
  const { task, folder, tracked, leftOut } = checked;
  const isNamed = globMatcher(folder, task.settings.protect);
  for (const glob of anyOf) {
    const found: FoundFiles = { files: new Set(), folders: 0, leftOut };
    await findNamed(folder, glob, found);
    const files = [...found.files];
    if (files.length === 0) continue;
    if (isWorkedOn(task, [glob, ...files.map((each) => relative(folder, each))])) return undefined;
    const place = { file: from, line };
    const file = files.find((each) => !isNamed(each));
    if (file !== undefined) {
      const what = files.length === 1 ? relative(folder, file) : glob;
      const message = `${name} \`${by}\` runs ${what}, which a dev can rewrite`;
      return { ...place, message, remedy: `add \`- protect: ${what}\` to the Configuration` };
    }
    const untracked = tracked && files.find((each) => !tracked.has(real(each)));
    if (untracked === undefined) return undefined;
    const message = `${name} \`${by}\` runs ${relative(folder, untracked)}, which a dev can rewrite as long as git does not track it`;
    return { ...place, message, remedy: '`git add` it: `protect` names it already' };
  }
  return undefined;
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Whether the Steps tell the dev to write it, or write it themselves. A placeholder in a path matches any name. */
function isWorkedOn(task: Task, names: readonly string[]): boolean {
  const lines = task.stepTexts.flatMap((step) => step.split('\n')).map((line) => line.replaceAll(/\{[^{}]*\}/g, '*'));
  return lines.some((line) =>
    names.some((name) => {
      const at = line.indexOf(name);
      return at !== -1 && (WORKED_ON.test(line.slice(0, at)) || LEAVES.test(line.slice(0, at)));
    }),
  );
}
