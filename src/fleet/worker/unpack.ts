import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BundledFile } from '../bundle.ts';

/** Creates a read-only folder with all of the files, or none. `beside`: a free path next to it. */
export async function unpackFiles(files: readonly BundledFile[], folder: string, beside: string): Promise<void> {
  const folders = new Set<string>([beside]);
  await mkdir(beside, { mode: 0o700 });
  for (const { path, isProgram, bytes } of files) {
    const file = join(beside, path);
    for (let above = dirname(file); !folders.has(above); above = dirname(above)) folders.add(above);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
    // Not in writeFile: the umask would apply.
    await chmod(file, isProgram ? 0o555 : 0o444);
  }
  for (const each of folders) await chmod(each, 0o555);
  await rename(beside, folder);
}
