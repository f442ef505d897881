import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../store/folder/files/atomic-write.ts';
import { type ShiftPaths, shiftsFolder } from '../../store/folder/layout.ts';

/** The name of a shift in the database. It is kept with the shift, so that a copy of the folder has it, too. */
export function shiftKey({ engine }: ShiftPaths): Promise<string> {
  return keptId(join(engine, 'fleet-id'));
}

/**
 * Marks the project's folder. A worker that finds the same mark in its `--root` has the same volume; a folder of its
 * own does not have it.
 */
export function volumeId(root: string): Promise<string> {
  return keptId(volumeFile(root));
}

/** Undefined: no coordinator has marked it. */
export function findVolume(root: string): string | undefined {
  return readId(volumeFile(root));
}

function volumeFile(root: string): string {
  return join(shiftsFolder(root), '.fleet-volume');
}

async function keptId(file: string): Promise<string> {
  const known = readId(file);
  if (known !== undefined) return known;
  await mkdir(dirname(file), { recursive: true });
  const id = randomUUID();
  await replaceFile(file, Buffer.from(`${id}\n`), 0o644);
  return id;
}

function readId(file: string): string | undefined {
  try {
    const id = readFileSync(file, 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
