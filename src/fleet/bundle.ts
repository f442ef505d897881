import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';

/** The maximum size of all files together, in bytes. */
export const LARGEST_BUNDLE = 20 * 1024 * 1024;
/** What their names and base64 add. */
const LARGEST_JSON = 2 * LARGEST_BUNDLE;
/** How much of a bundle one statement carries. */
export const PIECE = 512 * 1024;
export const MOST_PIECES = Math.ceil(LARGEST_JSON / PIECE);

/** A file on its way. `path`: relative, with slashes. */
export interface BundledFile {
  readonly path: string;
  readonly isProgram: boolean;
  readonly bytes: Buffer;
}

/** Files of the shift's folder, packed. An order names the hash, so its signature covers them. */
export interface Bundle {
  readonly hash: string;
  readonly bytes: Buffer;
}

const content = z.object({
  files: z.array(z.object({ path: z.string(), isProgram: z.boolean(), base64: z.string() })),
});

/** The same files make the same bundle. */
export async function packFiles(files: readonly BundledFile[]): Promise<Bundle> {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const listed = sorted.map(({ path, isProgram, bytes }) => ({ path, isProgram, base64: bytes.toString('base64') }));
  const bytes = await promisify(gzip)(Buffer.from(JSON.stringify({ files: listed })));
  return { hash: hashOf(bytes), bytes };
}

/**
 * The files in bytes that the database gave for a hash; or why they are not used. Nothing of them is read before the
 * hash is verified.
 */
export async function openBundle(bytes: Buffer, hash: string): Promise<readonly BundledFile[] | string> {
  if (hashOf(bytes) !== hash) return "the files of its shift don't match what the coordinator packed";
  try {
    const json = await promisify(gunzip)(bytes, { maxOutputLength: LARGEST_JSON });
    const { files } = content.parse(JSON.parse(json.toString()));
    const outside = files.find(({ path }) => !isInner(path));
    if (outside) return `a file of its shift would be outside its folder: ${JSON.stringify(outside.path)}`;
    return files.map(({ base64, ...file }) => ({ ...file, bytes: Buffer.from(base64, 'base64') }));
  } catch {
    return "the files of its shift can't be unpacked";
  }
}

/** Whether it stays below the folder that it is relative to. */
function isInner(path: string): boolean {
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..') && !path.includes('\0');
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
