import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { findProgram } from '../../agents/program.ts';
import { fillTemplate, resolveText, type Template } from '../../core/language/template.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { type Shift, valuesOf } from '../../core/model/shift.ts';
import { rowList } from '../../core/workspace/kept.ts';
import { hasLogin, LOGIN_PROBLEM, LOGIN_REMEDY, withoutLogin } from '../../core/workspace/login.ts';
import { type ShiftPaths, shiftsFolder } from '../../store/folder/layout.ts';
import type { Snapshot } from '../../store/store.ts';
import { checkedOutIn } from '../../workspace/delivery/branches.ts';
import { forgeOf } from '../../workspace/delivery/forges.ts';
import type { Git } from '../../workspace/git.ts';
import { parentOf } from '../../workspace/naming.ts';
import type { OpenShift } from '../open-shift.ts';
import { defaultWorkspacesDir } from '../run/run-workspaces.ts';
import type { World } from '../world.ts';
import { fleetProblems } from './fleet-requirements.ts';
import { surroundings } from './list-workspaces.ts';

/** `git merge-tree --write-tree`. */
const OLDEST_GIT_TO_MERGE = [2, 38] as const;

export interface WorkspaceProblem {
  readonly message: string;
  readonly remedy?: string;
  readonly file?: string;
  /** The key that asks for it. */
  readonly key: 'workspace' | 'repo' | 'include' | 'deliver' | 'into' | 'workspaces-dir';
}

/** Throws for the first problem, before anything is claimed. `isFleet`: agents work on other machines. */
export async function requireWorkspaces(
  world: World,
  paths: ShiftPaths,
  opened: OpenShift,
  isFleet: boolean,
): Promise<void> {
  const { shift, snapshot } = opened;
  const task = shift.tasks.find(({ hasWorkspace }) => hasWorkspace);
  if (shift.workspace === undefined || task === undefined) return;
  using around = surroundings(world, paths, opened);
  const parent = workspacesOf(world, shift);
  const { git, signal } = around;
  const looking = { git, signal, shift, snapshot, isFleet, environment: givenIn(world) };
  const [problem] = await workspaceProblems(looking, parent);
  if (!problem) return;
  throw new NightshiftError('bad-manager', problem.message, problem.remedy, task.place(problem.key));
}

/** The variables that are set. */
export function givenIn({ env }: World): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** The folder that holds the workspaces of a shift. */
export function workspacesOf(world: World, { workspace, root, name }: Shift): string {
  return parentOf(workspace?.folder ?? defaultWorkspacesDir(world), root, name);
}

/** A shift that is about to use workspaces. */
export interface Looking {
  readonly git: Git;
  readonly signal: AbortSignal;
  readonly shift: Shift;
  readonly snapshot: Snapshot;
  /** Its agents work on other machines. */
  readonly isFleet?: boolean;
  readonly environment: Readonly<Record<string, string>>;
}

/** What stands in the way of workspaces. `parent`: the folder that will hold them. */
export async function workspaceProblems(looking: Looking, parent: string): Promise<WorkspaceProblem[]> {
  const { git, signal, shift } = looking;
  const { kind, delivery } = shift.workspace!;
  const version = await git.run({ folder: shift.root, args: ['--version'], signal });
  if (version.kind !== 'done') {
    return [
      {
        key: 'workspace',
        message: `workspaces need git: ${version.kind === 'not-run' ? version.reason : version.said}`,
      },
    ];
  }
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version.text) ?? []).map(Number);
  const [leastMajor, leastMinor] = OLDEST_GIT_TO_MERGE;
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
  const tooOld = `${version.text.trim()} is too old for \`deliver: merge\``;
  const found = kind === 'worktree' ? await findTop(looking) : undefined;
  const top = found?.top;
  return [
    ...(isOld && delivery.kind === 'merge'
      ? [{ key: 'workspace' as const, message: tooOld, remedy: 'install git 2.38 or newer' }]
      : []),
    ...(found !== undefined && top === undefined ? [notInRepository(looking, found.said)] : []),
    ...(top === undefined ? [] : [...(await checkedOut(looking, top)), ...(await noRemote(looking, top))]),
    ...(looking.isFleet ? await fleetProblems(looking, top) : []),
    ...rowsWithLogin(looking),
    ...(await noForge(looking, top)),
    ...(await placeProblems(parent, [shiftsFolder(shift.root), ...(top === undefined ? [] : [top])])),
  ];
}

/** For the first row: others may have another `working-dir`. */
function fillFirst({ shift, snapshot }: Looking, template: Template): string {
  return fill(shift, template, snapshot.count === 0 ? {} : snapshot.metadata(0));
}

function fill(shift: Shift, template: Template, metadata: Readonly<Record<string, string>>): string {
  return resolveText(fillTemplate(template, valuesOf(shift, metadata)), shift.secrets);
}

/** In all rows: a cell may be the whole address. */
function rowsWithLogin({ shift, snapshot }: Looking): WorkspaceProblem[] {
  const repo = shift.workspace?.repo;
  if (repo === undefined) return [];
  const rows = Array.from({ length: snapshot.count }, (_, row) => row);
  const found = rows.filter((row) => hasLogin(fill(shift, repo, snapshot.metadata(row))));
  if (found.length === 0) return [];
  const which = rowList(found.map((row) => row + 1));
  return [{ key: 'repo', message: `\`repo\` of ${which} ${LOGIN_PROBLEM}`, remedy: LOGIN_REMEDY }];
}

function workingDir(looking: Looking): string {
  const { root, tasks } = looking.shift;
  const task = tasks.find(({ hasWorkspace }) => hasWorkspace);
  return task === undefined ? root : resolve(root, fillFirst(looking, task.workingDir));
}

/** `said`: what git says if there is none. */
async function findTop(looking: Looking): Promise<{ readonly top?: string; readonly said?: string }> {
  const folder = workingDir(looking);
  if (!existsSync(folder)) return {};
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const found = await looking.git.run({ folder, args, signal: looking.signal });
  if (found.kind !== 'done') return found.kind === 'refused' ? { said: found.said.trim() } : {};
  const common = found.text.trim();
  return { top: common.endsWith(`${sep}.git`) ? dirname(common) : common };
}

function notInRepository(looking: Looking, said = ''): WorkspaceProblem {
  if (said !== '' && !said.includes('not a git repository')) {
    return { key: 'workspace', message: `git can't use the repository of ${workingDir(looking)}: ${said}` };
  }
  const message = `\`workspace: worktree\` needs a git repository, and ${workingDir(looking)} is not in one`;
  return { key: 'workspace', message, remedy: 'correct `working-dir`, run `git init` there, or use `workspace: copy`' };
}

/** A branch that is checked out can't move without confusing the files there. */
async function checkedOut(looking: Looking, top: string): Promise<WorkspaceProblem[]> {
  const { git, signal, shift } = looking;
  const { kind, into } = shift.workspace!.delivery;
  if (kind !== 'merge' || into === undefined) return [];
  const branch = fillFirst(looking, into);
  const [place] = await checkedOutIn(git, top, branch, signal);
  if (place === undefined) return [];
  return [
    {
      key: 'into',
      message: `\`into: ${branch}\` is checked out in ${place}`,
      remedy: 'check out another branch there, or leave `into` out: a branch of its own is made then',
    },
  ];
}

/** Every row would fail after its work. */
async function noRemote({ git, signal, shift }: Looking, top: string): Promise<WorkspaceProblem[]> {
  const { kind } = shift.workspace!.delivery;
  if (kind !== 'push' && kind !== 'pr') return [];
  const listed = await git.run({ folder: top, args: ['remote'], signal });
  if (listed.kind !== 'done' || listed.text.trim() !== '') return [];
  const message = `\`deliver: ${kind}\` needs a remote, and ${top} has none`;
  return [{ key: 'deliver', message, remedy: 'add one with `git remote add`, or use `deliver: branch`' }];
}

/** Every row would fail after its work: `gh` can't open merge requests, nor `glab` pull requests. */
async function noForge(looking: Looking, top: string | undefined): Promise<WorkspaceProblem[]> {
  const { shift, snapshot, environment } = looking;
  const { repo, delivery } = shift.workspace!;
  if (delivery.kind !== 'pr' || delivery.prCommand !== undefined) return [];
  const rows = Array.from({ length: repo === undefined ? 0 : snapshot.count }, (_, row) => snapshot.metadata(row));
  const addresses = [
    ...rows.map((row) => fill(shift, repo!, row)),
    ...(top === undefined ? [] : [await pushedTo(looking, top)]),
  ];
  const needed = new Map(addresses.map((address) => [forgeOf(address).program, address]));
  for (const [program, address] of needed) {
    if (await findProgram(program, { environment })) continue;
    const message = `\`deliver: pr\` needs ${program} for ${withoutLogin(address)}, and it is not on PATH`;
    return [{ key: 'deliver', message, remedy: 'install it and log in, or set `pr-command`' }];
  }
  return [];
}

/** As git is configured now. Empty: there is no remote. */
async function pushedTo({ git, signal }: Looking, top: string): Promise<string> {
  const ask = async (...args: string[]) => {
    const result = await git.run({ folder: top, args, signal });
    return result.kind === 'done' ? result.text.trim() : '';
  };
  const names = (await ask('remote')).split('\n');
  const name = [await ask('config', 'remote.pushDefault'), 'origin', names[0]!].find((each) => names.includes(each));
  return name === undefined ? '' : ask('remote', 'get-url', '--push', name);
}

async function placeProblems(parent: string, outsideOf: readonly string[]): Promise<WorkspaceProblem[]> {
  const around = outsideOf.find((place) => `${parent}${sep}`.startsWith(`${place}${sep}`));
  if (around !== undefined) {
    const message = `workspaces would be inside of ${around}`;
    return [{ key: 'workspaces-dir', message, remedy: 'set `workspaces-dir` to another folder' }];
  }
  let there = parent;
  while (!existsSync(there)) there = dirname(there);
  const isWritable = await access(there, constants.W_OK).then(
    () => true,
    () => false,
  );
  const remedy = 'make it writable, or set `workspaces-dir` to another folder';
  const message = `no permission to make workspaces in ${there}`;
  return isWritable ? [] : [{ key: 'workspaces-dir', message, file: there, remedy }];
}
