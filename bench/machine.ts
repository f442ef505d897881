import { spawnSync } from 'node:child_process';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { parallelVersion } from './gnu-parallel.ts';

/** What a figure depends on besides the program. */
export function machine(): string[] {
  const [cpu] = cpus();
  const fileSystem = spawnSync('df', ['--output=fstype', tmpdir()], { encoding: 'utf8' }).stdout?.trim().split('\n')[1];
  return [
    `${cpus().length} cores (${cpu?.model.trim() || 'unknown model'}), ${Math.round(totalmem() / 2 ** 30)} GB of memory`,
    `Node ${process.version}, ${type()} ${release()}, ${fileSystem ?? 'unknown file system'} at ${tmpdir()}`,
    parallelVersion() ?? 'GNU parallel is not installed',
  ];
}
