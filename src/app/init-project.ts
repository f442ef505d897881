import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findProgram } from '../agents/program.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import type { Addition } from '../kit/claude-settings.ts';
import { KITS, type Kit, type KitFile, marked, originOf } from '../kit/kit.ts';
import { diskError, replaceFile } from '../store/folder/files/atomic-write.ts';
import { initRoot } from '../store/folder/init-root.ts';
import { planSettings, type SettingsChange, writeSettings } from './settings-file.ts';
import type { World } from './world.ts';

export { HOOK_COMMAND } from '../kit/claude-settings.ts';

type Deed = 'written' | 'updated' | 'unchanged' | 'kept' | 'removed' | 'absent';

/** What happened to a file. `kept`: you wrote or edited it, so it was left alone. */
export interface FileDeed {
  readonly path: string;
  readonly deed: Deed;
}

export interface InitOptions {
  /** The program that gets agents and commands. */
  readonly program: string;
  /** Also files that you wrote or edited. */
  readonly force?: boolean;
}

export interface InitResult {
  readonly folder: string;
  /** False: the folder was there already, and complete. */
  readonly isNew: boolean;
  readonly files: readonly FileDeed[];
  /** Entries that a settings file of the person's got. */
  readonly added?: { readonly path: string; readonly additions: readonly Addition[] };
}

/** Makes the folder of the shifts, and agents and commands for OpenCode or Claude Code (rule O1). */
export async function initProject({ cwd }: Pick<World, 'cwd'>, options: InitOptions): Promise<InitResult> {
  const { program, force = false } = options;
  const { files, settings } = kitFor(program);
  // First, because it may be an error: then nothing is written.
  const change = settings && planSettings(cwd, settings.path, settings.additions, false);
  const { folder, changed } = await initRoot(cwd);
  const done = await inTurn(files(), (file) => write(cwd, file, force));
  done.push(...(await settle(cwd, change, 'unchanged')));
  const added = settings && change?.before !== change?.after ? { added: settings } : {};
  return { folder, isNew: changed, files: done, ...added };
}

/** Removes the agents and commands. Shifts stay. */
export async function removeKit({ cwd }: Pick<World, 'cwd'>, options: InitOptions): Promise<FileDeed[]> {
  const { program, force = false } = options;
  const { files, settings } = kitFor(program);
  const change = settings && planSettings(cwd, settings.path, settings.additions, true);
  const done = await inTurn(files(), (file) => remove(cwd, file, force));
  return [...done, ...(await settle(cwd, change, 'absent'))];
}

/** Whether the agents and commands, which call `nightshift` by that name, can find it. */
export async function isOnPath({ env }: Pick<World, 'env'>): Promise<boolean> {
  return (await findProgram('nightshift', { environment: { PATH: env.PATH ?? '' } })) !== undefined;
}

function kitFor(program: string): Kit {
  const kit = Object.hasOwn(KITS, program) ? KITS[program] : undefined;
  if (kit) return kit;
  const known = Object.keys(KITS);
  const near = nearest(program, known);
  const hint = near ? `did you mean ${near}?` : `there are agents and commands for: ${known.join(', ')}`;
  throw new NightshiftError('usage', `there is nothing to write for ${JSON.stringify(program)}`, hint);
}

async function inTurn(files: readonly KitFile[], work: (file: KitFile) => Promise<Deed>): Promise<FileDeed[]> {
  const done: FileDeed[] = [];
  for (const file of files) done.push({ path: file.path, deed: await work(file) });
  return done;
}

async function write(root: string, kitFile: KitFile, force: boolean): Promise<Deed> {
  const file = join(root, kitFile.path);
  const wanted = marked(kitFile);
  const found = readThere(file);
  if (found === wanted) return 'unchanged';
  if (found !== undefined && originOf(found) !== 'ours' && !force) return 'kept';
  try {
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, Buffer.from(wanted), 0o644);
  } catch (cause) {
    throw diskError(cause, file);
  }
  return found === undefined ? 'written' : 'updated';
}

async function remove(root: string, { path }: KitFile, force: boolean): Promise<Deed> {
  const file = join(root, path);
  const found = readThere(file);
  if (found === undefined) return 'absent';
  if (originOf(found) !== 'ours' && !force) return 'kept';
  await rm(file);
  await removeEmpty(root, dirname(file));
  return 'removed';
}

/** `same`: what it means that nothing had to be changed. */
async function settle(root: string, change: SettingsChange | undefined, same: Deed): Promise<FileDeed[]> {
  if (change === undefined) return [];
  const { path, before, after } = change;
  if (before === after) return [{ path, deed: same }];
  await writeSettings(root, change);
  if (after === undefined) await removeEmpty(root, dirname(join(root, path)));
  return [{ path, deed: after === undefined ? 'removed' : before === undefined ? 'written' : 'updated' }];
}

async function removeEmpty(root: string, from: string): Promise<void> {
  for (let folder = from; folder !== root; folder = dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** A link counts as your file, wherever it leads. */
function readThere(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return '';
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
