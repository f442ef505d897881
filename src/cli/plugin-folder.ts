import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { claudePlugin, PLUGIN_MANIFEST } from '../kit/claude.ts';
import { diskError } from '../store/folder/files/atomic-write.ts';
import type { Io } from './io.ts';
import { readVersion } from './version.ts';

/** Writes the plugin for Claude Code. The whole folder is ours: a new one, or one that this wrote before. */
export async function writePlugin(io: Io, target: string): Promise<void> {
  const folder = resolve(io.cwd, target);
  if (!isOurs(folder)) {
    const hint = 'name a new folder, or one that Nightshift wrote its plugin to before';
    throw new NightshiftError('bad-folder', `${target} holds something else, and was left as it is`, hint);
  }
  const files = claudePlugin(readVersion());
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  } catch (cause) {
    throw diskError(cause, folder);
  }
  io.print(`written ${target} (${files.length} files)`);
  io.print(`For one session:   claude --plugin-dir ${folder}`);
  io.print(`For all sessions:  claude plugin marketplace add ${folder}`);
  io.print('                   claude plugin install nightshift@nightshift');
}

function isOurs(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true;
  try {
    return (JSON.parse(readFileSync(join(folder, PLUGIN_MANIFEST), 'utf8')) as { name?: string }).name === 'nightshift';
  } catch {
    return false;
  }
}
