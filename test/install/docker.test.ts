import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { copyRepository, FROM_CACHE, temporaryFolder } from './repository-copy.ts';

interface Stage {
  /** The folder that stands for `/` of the image. */
  readonly root: string;
  workdir: string;
  readonly settings: Record<string, string>;
}

/** Carries out a Dockerfile without Docker: each stage is a folder, and RUN runs here. Installs no system packages. */
async function build(text: string, context: string, folder: string): Promise<Stage> {
  const stages = new Map<string, Stage>();
  let stage!: Stage;
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line)!;
    if (instruction === 'FROM') {
      const name = / AS (.+)$/.exec(rest)?.[1] ?? 'final';
      stage = { root: join(folder, name), workdir: '/', settings: { FROM: rest.split(' ')[0]! } };
      mkdirSync(stage.root);
      stages.set(name, stage);
    } else if (instruction === 'WORKDIR') {
      stage.workdir = rest;
      mkdirSync(join(stage.root, rest), { recursive: true });
    } else if (instruction === 'COPY') {
      const [, from, paths] = /^(?:--from=(\S+) )?(.*)$/.exec(rest)!;
      copy(from === undefined ? context : stages.get(from)!.root, paths!.split(' '), join(stage.root, stage.workdir));
    } else if (instruction === 'RUN') {
      if (!rest.startsWith('apt-get ')) await shell(rest, join(stage.root, stage.workdir));
    } else {
      stage.settings[instruction] = rest;
    }
  }
  return stage;
}

/** A folder is copied as its content, as Docker does it. */
function copy(from: string, paths: readonly string[], workdir: string): void {
  const to = join(workdir, paths.at(-1)!);
  for (const path of paths.slice(0, -1)) {
    const source = join(from, path);
    const isIntoFolder = statSync(source).isFile() && paths.at(-1)!.endsWith('/');
    cpSync(source, isIntoFolder ? join(to, basename(path)) : to, { recursive: true, verbatimSymlinks: true });
  }
}

async function shell(command: string, cwd: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', command], { cwd, env: { ...env, ...FROM_CACHE } });
  return stdout;
}

/** The patterns of `.dockerignore` that this project uses: names, `*`, and `**` in front. */
function isIgnored(file: string): boolean {
  const patterns = readFileSync('.dockerignore', 'utf8').trim().split('\n');
  return patterns.some((pattern) => {
    const source = pattern
      .replace(/^\*\*\//, '@')
      .replace(/[.]/g, '\\.')
      .replace(/\*/g, '[^/]*')
      .replace('@', '(.*/)?');
    return new RegExp(`^${source}(/|$)`).test(file);
  });
}

test('the steps of the Dockerfile, in a clean folder, make an image that runs a shift and has nothing else', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder();
  const context = join(folder, 'context');
  copyRepository(context, (file) => !isIgnored(file));
  expect(['test', '.git', 'Dockerfile', 'src/index.ts'].map((file) => existsSync(join(context, file)))).toEqual([
    ...[false, false, false],
    true,
  ]);
  const text = readFileSync('Dockerfile', 'utf8');
  const { root, workdir, settings } = await build(text, context, folder);

  expect(settings).toMatchObject({ FROM: 'node:22-slim', USER: 'node', ENTRYPOINT: '["nightshift"]' });
  expect(text).toMatch(/^RUN apt-get .* git /m);
  const program = join(root, 'nightshift');
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const installed = (names: object) =>
    Object.keys(names).filter((name) => existsSync(join(program, 'node_modules', name)));
  expect(installed(dependencies)).toEqual(Object.keys(dependencies));
  expect(installed(devDependencies)).toEqual([]);
  expect(['src', 'test', 'scripts'].filter((name) => existsSync(join(program, name)))).toEqual([]);

  // As the entry point finds it: through PATH, and with no home but an empty one.
  const [bin] = settings.ENV!.replace('PATH=', '').split(':');
  const env = { PATH: `${join(root, bin!)}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: join(root, workdir) };
  expect(statSync(join(root, workdir)).mode & 0o1777).toBe(0o1777);
  expect(await shell('nightshift demo', join(root, workdir), env)).toContain('Made: 23 pages');
});
