import { spawnSync } from 'node:child_process';

/** Undefined: not installed. (moreutils has another program of that name.) */
export function parallelVersion(): string | undefined {
  const { stdout } = spawnSync('parallel', ['--version'], { encoding: 'utf8' });
  return /^GNU parallel \d+/.exec(stdout ?? '')?.[0];
}

export const NOT_INSTALLED = 'GNU parallel: not installed';
