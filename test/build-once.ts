import { execFileSync } from 'node:child_process';

/** The tests run the program that users run, so it is built once before them. */
export function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
