import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The tests run the program that users run. It is built once before them, unless `dist` is newer than its sources. */
export function setup(): void {
  if (isNewer('dist/cli/main.js', ['src', 'web', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'])) return;
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}

function isNewer(built: string, sources: readonly string[]): boolean {
  const changedAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.every((source) => lastChange(source) < changedAt);
}

/** Of a folder, its own change counts too: a file was added or removed. */
function lastChange(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return path.endsWith('.test.ts') ? 0 : stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => lastChange(join(path, name))));
}
