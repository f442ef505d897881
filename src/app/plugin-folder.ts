import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { claudePlugin, PLUGIN_MANIFEST } from '../kit/claude.ts';
import { diskError } from '../store/folder/files/atomic-write.ts';
import type { World } from './world.ts';

/** Writes the plugin for Claude Code to a folder that is new, empty, or was written by this before. */
export async function writePlugin(
  { cwd }: Pick<World, 'cwd'>,
  target: string,
  version: string,
): Promise<{ folder: string; files: number }> {
  const folder = resolve(cwd, target);
  if (!isOurs(folder)) {
    const hint = 'name a new folder, or one that Nightshift wrote its plugin to before';
    throw new NightshiftError('bad-folder', `${target} has other content, and was left as it is`, hint);
  }
  const files = claudePlugin(version);
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  } catch (cause) {
    throw diskError(cause, folder);
  }
  return { folder, files: files.length };
}

function isOurs(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return true;
  try {
    return (JSON.parse(readFileSync(join(folder, PLUGIN_MANIFEST), 'utf8')) as { name?: string }).name === 'nightshift';
  } catch {
    return false;
  }
}
