// Compiles src to dist from nothing, so that a file that was removed from src is not run from dist.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
chmodSync('dist/cli/main.js', 0o755);

// Of the declarations, the package needs those that the public API refers to.
const needed = new Set([join('dist', 'index.d.ts')]);
for (const file of needed) {
  for (const [, target] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()["'](\.[^"']+)\.ts["']/g)) {
    needed.add(normalize(join(dirname(file), `${target}.d.ts`)));
  }
}
for (const name of readdirSync('dist', { recursive: true })) {
  const file = join('dist', String(name));
  if (file.endsWith('.d.ts') && !needed.has(file)) rmSync(file);
}
