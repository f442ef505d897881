import { existsSync } from 'node:fs';
import { SHELL } from './start.ts';

/** Fixed places, as for `sh`: the PATH of an agent does not decide which shell runs a script. */
const BASH = [
  '/bin/bash',
  '/usr/bin/bash',
  '/usr/local/bin/bash',
  '/opt/homebrew/bin/bash',
  '/run/current-system/sw/bin/bash',
];

/** The path of bash; undefined if it is not installed. */
export function findBash(isThere: (file: string) => boolean = existsSync): string | undefined {
  return BASH.find(isThere);
}

/** The shell that runs a script. */
export function shellOf({ shell }: { readonly shell?: 'bash' }): string {
  return shell === 'bash' ? (findBash() ?? BASH[0]!) : SHELL;
}
