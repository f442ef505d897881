import { hash, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { parseManager } from '../../../formats/manager.ts';
import { replaceInside } from '../files/inside.ts';
import { readHere } from '../files/read-here.ts';
import type { ShiftPaths } from '../layout.ts';

/**
 * Texts that you put in force with a command while items may run, by the name of their file. A run takes a text that
 * it finds in the file if its hash is listed here. One hash for each file, the last one.
 */
interface Acceptances {
  readonly [document: string]: { readonly id: string; readonly hash: string } | undefined;
}

/**
 * Identifies one acceptance. A run takes each once, so that an old text that returns is not mistaken for a new one.
 */
export function acceptedId(paths: ShiftPaths, file: string, text: string): string | undefined {
  const entry = read(paths)[basename(file)];
  return entry !== undefined && isHashOf(entry.hash, paths, file, text) ? entry.id : undefined;
}

/**
 * Listed before the file is written, under the shift's lock, so that a run never meets a text it was not told about.
 * If no item runs, and none did when a run was killed, every edit is yours and nothing is listed.
 */
export async function accept(paths: ShiftPaths, file: string, text: string): Promise<void> {
  if (!existsSync(paths.inForce)) return;
  const entry = { id: randomBytes(8).toString('hex'), hash: hashOf(paths, file, text) };
  const accepted: Acceptances = { ...read(paths), [basename(file)]: entry };
  await replaceInside({ base: paths.folder }, paths.accepted, Buffer.from(JSON.stringify(accepted)));
}

function read({ accepted }: ShiftPaths): Acceptances {
  try {
    const found: unknown = JSON.parse(readHere(accepted));
    return typeof found === 'object' && found !== null ? (found as Acceptances) : {};
  } catch {
    return {};
  }
}

function hashOf(paths: ShiftPaths, file: string, text: string): string {
  return file === paths.env ? hashSecrets(text) : hash('sha256', termsOf(paths, file, text));
}

function isHashOf(known: string, paths: ShiftPaths, file: string, text: string): boolean {
  return file === paths.env ? isHashOfSecrets(known, text) : known === hashOf(paths, file, text);
}

/** The hash of `.env`. It is slow on purpose: otherwise a short secret could be guessed by trying all values. */
export function hashSecrets(text: string): string {
  if (proven?.text === text) return proven.hash;
  const salt = randomBytes(16);
  const hash = `${salt.toString('hex')}:${scryptSync(text, salt, 32).toString('hex')}`;
  proven = { text, hash };
  return hash;
}

export function isHashOfSecrets(known: unknown, text: string): boolean {
  if (proven?.text === text && proven.hash === known) return true;
  const [salt = '', rest = ''] = String(known).split(':');
  const [a, b] = [Buffer.from(rest, 'hex'), scryptSync(text, Buffer.from(salt, 'hex'), 32)];
  const isSame = a.length === b.length && timingSafeEqual(a, b);
  if (isSame) proven = { text, hash: String(known) };
  return isSame;
}

/** The last text whose hash is known. A command reads a record and writes it again: once is enough. */
let proven: { readonly text: string; readonly hash: string } | undefined;

/** Of a manifest, only what you write: a run writes Progress and the batch size into the same file. */
export function termsOf({ manager }: ShiftPaths, file: string, text: string): string {
  if (file !== manager) return text;
  try {
    const { settings, tasks } = parseManager(text, file);
    const counted = settings.filter(({ key }) => key !== 'current-batch-size');
    return JSON.stringify([counted.map(({ key, value }) => [key, value]).sort(), tasks.map(({ name }) => name)]);
  } catch {
    return text;
  }
}
