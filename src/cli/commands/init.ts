import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../agents/program.ts';
import { planSettings, type SettingsChange, writeSettings } from '../../app/settings-file.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { HOOK_COMMAND } from '../../kit/claude-settings.ts';
import { KITS, type Kit, type KitFile, marked, originOf } from '../../kit/kit.ts';
import { diskError, replaceFile } from '../../store/folder/files/atomic-write.ts';
import { initRoot } from '../../store/folder/new-shift.ts';
import { count } from '../../views/plain.ts';
import type { Io } from '../io.ts';
import { writePlugin } from '../plugin-folder.ts';
import type { Options } from '../program.ts';

type Deed = 'written' | 'updated' | 'unchanged' | 'kept' | 'removed' | 'absent';

interface Done {
  readonly path: string;
  readonly deed: Deed;
}

/** The folder of the shifts, and the agents and commands where OpenCode or Claude Code looks for them (rule O1). */
export async function run(io: Io, _args: readonly string[], options: Options): Promise<number> {
  const program: string = options.agent ?? 'opencode';
  if (options.plugin !== undefined) {
    if (program !== 'claude') throw new NightshiftError('usage', '--plugin is for Claude Code', 'add `--agent claude`');
    await writePlugin(io, options.plugin);
    return EXIT.done;
  }
  const { files, settings } = kitFor(program);
  // First, because it may be an error: then nothing is written.
  const change = settings && planSettings(io.cwd, settings.path, settings.additions, options.remove === true);
  if (options.remove) {
    const done = await inTurn(files(), (file) => remove(io.cwd, file, options.force));
    tell(io, options, [...done, ...(await settle(io.cwd, change, 'absent'))], []);
    return EXIT.done;
  }
  const { folder, changed } = await initRoot(io.cwd);
  if (!options.json && settings && change?.before !== change?.after) showAdditions(io, settings);
  const done = await inTurn(files(), (file) => write(io.cwd, file, options.force));
  done.push(...(await settle(io.cwd, change, 'unchanged')));
  const isNew = changed ? `${folder} is ready.` : `${folder} is already there.`;
  const next = '`nightshift create NAME --from FILE.csv` makes a shift';
  tell(io, options, done, [
    `${isNew} ${next}${program === 'opencode' ? ', and so does /nightshift-create in OpenCode' : ''}.`,
  ]);
  await warnIfNotOnPath(io);
  return EXIT.done;
}

/** The agents and commands call `nightshift` by that name. */
async function warnIfNotOnPath({ env, warn }: Io): Promise<void> {
  if (await findProgram('nightshift', { environment: { PATH: env.PATH ?? '' } })) return;
  const here = fileURLToPath(new URL('../../..', import.meta.url));
  warn("warning: `nightshift` is not on your PATH, so the agents and commands can't run it");
  warn(`  \`npm link\` in ${here} puts it there`);
}

function showAdditions(io: Io, { path, additions }: NonNullable<Kit['settings']>): void {
  io.print(`${path} gets these entries; \`nightshift init --agent claude --remove\` takes them out again:`);
  for (const { path: keys, value } of additions) {
    const matcher = (value as { matcher?: string }).matcher;
    const what = typeof value === 'string' ? value : `${HOOK_COMMAND} (${matcher}), for the agents of Nightshift only`;
    io.print(`  ${keys.join('.')}: ${what}`);
  }
}

/** `same`: what it means that nothing had to be changed. */
async function settle(root: string, change: SettingsChange | undefined, same: Deed): Promise<Done[]> {
  if (change === undefined) return [];
  const { path, before, after } = change;
  if (before === after) return [{ path, deed: same }];
  await writeSettings(root, change);
  if (after === undefined) await removeEmpty(root, dirname(join(root, path)));
  return [{ path, deed: after === undefined ? 'removed' : before === undefined ? 'written' : 'updated' }];
}

function kitFor(program: string): Kit {
  const kit = Object.hasOwn(KITS, program) ? KITS[program] : undefined;
  if (kit) return kit;
  const known = Object.keys(KITS);
  const near = nearest(program, known);
  const hint = near ? `did you mean ${near}?` : `there are agents and commands for: ${known.join(', ')}`;
  throw new NightshiftError('usage', `there is nothing to write for ${JSON.stringify(program)}`, hint);
}

async function inTurn(files: readonly KitFile[], work: (file: KitFile) => Promise<Deed>): Promise<Done[]> {
  const done: Done[] = [];
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

/** Folders that are empty now are nobody's. */
async function removeEmpty(root: string, from: string): Promise<void> {
  for (let folder = from; folder !== root; folder = dirname(folder)) {
    if (
      !(await rmdir(folder).then(
        () => true,
        () => false,
      ))
    )
      break;
  }
}

/** A link leads to a file that is somebody's, whatever stands in it. */
function readThere(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return '';
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function tell(io: Io, { json }: Options, done: readonly Done[], closing: readonly string[]): void {
  if (json) {
    io.print(JSON.stringify({ files: done }));
    return;
  }
  for (const deed of ['written', 'updated', 'removed'] as const) {
    for (const { path } of done.filter((each) => each.deed === deed)) io.print(`${deed} ${path}`);
  }
  const unchanged = done.filter(({ deed }) => deed === 'unchanged').length;
  if (unchanged > 0) io.print(`${count(unchanged, 'file')} up to date`);
  for (const { path } of done.filter(({ deed }) => deed === 'kept')) {
    io.warn(`left alone: ${path} was written or edited by somebody else (--force takes it anyway)`);
  }
  if (done.every(({ deed }) => deed === 'absent')) io.print('There was nothing to remove.');
  for (const line of closing) io.print(line);
}
