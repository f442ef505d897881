import { installProgram, programNames } from './programs.ts';

/** Downloads what is not in the cache yet; see programs.ts. */
export function setup(): void {
  for (const name of programNames) installProgram(name);
}
