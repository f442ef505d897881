import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything below a folder: kind, mode, time of the last change and content. Two that are equal: nothing was written. */
export function listing(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const add = (path: string, name: string) => {
    const stats = lstatSync(path, { bigint: true });
    const about = `${stats.ino} ${stats.mode.toString(8)} ${stats.mtimeNs}`;
    if (stats.isDirectory()) {
      found[`${name}/`] = about;
      for (const entry of readdirSync(path)) add(join(path, entry), `${name}/${entry}`);
    } else if (stats.isSymbolicLink()) found[name] = `${about} -> ${readlinkSync(path)}`;
    else found[name] = stats.isFile() ? `${about} ${readFileSync(path).toString('latin1')}` : about;
  };
  add(folder, '.');
  return found;
}
