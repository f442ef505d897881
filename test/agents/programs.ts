import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The versions that the tests drive; `doctor` calls these tested. `script` puts the program for this machine in its place. */
const PROGRAMS = {
  opencode: { package: 'opencode-ai', version: '1.18.33', script: 'postinstall.mjs' },
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.325', script: 'install.cjs' },
  codex: { package: '@openai/codex', version: '0.166.0', script: undefined },
} as const;

export type ProgramName = keyof typeof PROGRAMS;

export const programNames = Object.keys(PROGRAMS) as ProgramName[];

/** They weigh 350 MB each, so they are kept outside of the clone, for all clones. */
const CACHE = process.env.NIGHTSHIFT_AGENTS_CACHE ?? join(homedir(), '.cache', 'nightshift-agents');

/** The folder to put on PATH. */
export function programFolder(name: ProgramName): string {
  return join(folderOf(name), 'node_modules', '.bin');
}

export function programVersion(name: ProgramName): string {
  return PROGRAMS[name].version;
}

function folderOf(name: ProgramName): string {
  return join(CACHE, `${name}-${PROGRAMS[name].version}`);
}

/** A folder with its final name holds a program that has run once: what was interrupted is done anew. */
export function installProgram(name: ProgramName): void {
  const folder = folderOf(name);
  if (existsSync(folder)) return;
  const { package: packageName, version, script } = PROGRAMS[name];
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  // Whether npm runs the scripts of packages depends on its version and settings, so the one that matters is run here.
  // Their `engines` ask for a newer Node than the programs need: they bring their own.
  const options = ['--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--engine-strict=false'];
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as const };
  execFileSync('npm', ['install', '--prefix', unfinished, ...options, `${packageName}@${version}`], quiet as never);
  if (script !== undefined) {
    const cwd = join(unfinished, 'node_modules', packageName);
    execFileSync(process.execPath, [script], { cwd, ...(quiet as object) });
  }
  const answer = execFileSync(join(unfinished, 'node_modules', '.bin', name), ['--version'], { encoding: 'utf8' });
  if (!answer.includes(version)) throw new Error(`${name} --version says ${answer}, and not ${version}`);
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}
