// Compiles src to dist, and the page to dist/web, from nothing, so that a file that was removed is not run from dist.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { buildPage } from './build-page.mjs';

rmSync('dist', { recursive: true, force: true });
const compiler = spawn('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
const [[status]] = await Promise.all([once(compiler, 'close'), buildPage()]);
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
