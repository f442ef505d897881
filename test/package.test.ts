import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** As a user has it: an empty project with the packed package, and nothing of this repository. */
const project = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-package-')));
const docs = readFileSync('docs/api.md', 'utf8');
/** The packed package; `beforeAll` names it. */
let archive = '';

/** Each example of the page, with the output that the page shows below it. */
const examples = [...docs.matchAll(/^```ts\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms)].map(
  ([, code, output], number) => ({
    name: `example-${number + 1}`,
    code: code!,
    output,
  }),
);

const strict = {
  target: 'es2022',
  // The declarations need no types of Node.
  lib: ['es2023', 'dom'],
  types: [],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
};

beforeAll(() => {
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', type: 'module', private: true }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include: ['*.ts'] }));
  for (const [, file, text] of docs.matchAll(/^`([\w.]+)` .*\n\n````md\n(.*?)^````$/gms)) {
    writeFileSync(join(project, file!), text!);
  }
  for (const { name, code } of examples) writeFileSync(join(project, `${name}.ts`), code);
  copyDependencies();
  const packed = run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], process.cwd());
  archive = join(project, packed.trim());
  // The dependencies are there already, so npm needs no network.
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], project);
}, 240_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

/** From this repository's `node_modules`, in which `npm ci` put the versions of the lock file. */
function copyDependencies(): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  for (const [path, entry] of Object.entries<{ dev?: boolean; devOptional?: boolean }>(packages)) {
    if (path === '' || entry.dev || entry.devOptional || !existsSync(path)) continue;
    mkdirSync(join(project, dirname(path)), { recursive: true });
    cpSync(path, join(project, path), { recursive: true });
  }
}

function run(program: string, args: readonly string[], cwd: string, env = process.env): string {
  try {
    return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
  }
}

function filesIn(folder: string, keep: (file: string) => boolean = () => true): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(folder, file)).isFile() && keep(file))
    .sort();
}

test('the package has the compiled sources, the docs, the examples and nothing else', () => {
  const installed = join(project, 'node_modules/nightshift');
  const parts = readdirSync(installed).filter((name) => name !== 'node_modules');
  const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { files: string[] };
  expect(parts.sort()).toEqual([...files, 'package.json'].sort());
  expect(files.filter((name) => /^(test|bench|scripts|src|\.)/.test(name))).toEqual([]);

  const sources = filesIn('src', (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  const compiled = filesIn(join(installed, 'dist'), (file) => !file.endsWith('.d.ts') && !file.startsWith('web/'));
  expect(compiled).toEqual(sources.map((file) => file.replace(/\.ts$/, '.js')).sort());
  expect(filesIn(join(installed, 'dist/web'))).toEqual(['index.html', 'page.css', 'page.js', 'stream.js']);
  for (const folder of ['docs', 'examples']) {
    expect(filesIn(join(installed, folder))).toEqual(filesIn(folder));
  }
  expect(statSync(archive).size).toBeLessThan(1_300_000);
});

test('the installed program needs nothing but Node: help, the demo and a shift run with an empty home', () => {
  const home = join(project, 'home');
  mkdirSync(home);
  // As on a new machine: no settings, no state, and no programs but Node and those of the system.
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home };
  const nightshift = (...args: string[]) => run(join(project, 'node_modules/.bin/nightshift'), args, home, env);
  expect(nightshift('--help')).toContain('Usage: nightshift');
  expect(nightshift('demo')).toContain('Made: 23 pages');
  expect(existsSync(join(home, 'nightshift-demo/site/index.html'))).toBe(true);

  nightshift('create', 'cities', '--example', 'enrich-records');
  expect(nightshift('start', 'cities', '--dry-run')).toContain('8 item-tasks can be dispatched now');

  writeFileSync(join(home, 'items.csv'), 'name\nowl\ntoad\n');
  writeFileSync(join(home, 'greet.md'), GREET);
  nightshift('create', 'greetings', '--from', 'items.csv', '--agent', 'shell', '--parallel');
  nightshift('add-task', 'greetings', 'greet', '--from', 'greet.md');
  expect(nightshift('start', 'greetings')).toContain('All done.');
  expect(readFileSync(join(home, 'toad.txt'), 'utf8')).toBe('Good night, toad\n');
});

const GREET = `## Configuration

## Steps

1. Greet it.

   \`\`\`sh
   echo "Good night, {name}" > "{name}.txt"
   \`\`\`

## Validation

- It was greeted

  \`\`\`sh
  grep -q "{name}" "{name}.txt"
  \`\`\`
`;

test('the package, installed in an empty project, compiles and runs every example of docs/api.md', {
  timeout: 240_000,
}, () => {
  expect(examples.length).toBeGreaterThan(4);
  writeFileSync(join(project, 'wrong.ts'), WRONG);
  run(resolve('node_modules/.bin/tsc'), ['-p', '.'], project);
  for (const { name, output } of examples) {
    const printed = run(process.execPath, [join(project, `${name}.js`)], project);
    if (output !== undefined) expect(printed, name).toBe(output);
  }
  expect(run(join(project, 'node_modules/.bin/nightshift'), ['list'], project)).toMatch(/^cities +2\/3 completed/);
});

/** The compiler refuses what is wrong: each of these lines would be an error without the comment above it. */
const WRONG = `import { type NightshiftEvent, openShift, type RunResult } from 'nightshift';

export async function wrong(event: NightshiftEvent): Promise<RunResult> {
  const shift = await openShift('.');
  // @ts-expect-error rows are text
  shift.run({ rows: 3 });
  // @ts-expect-error there is no such limit
  shift.run({ limits: { maxMoney: 5 } });
  // @ts-expect-error an agent has a function ask
  shift.run({ agents: [{ name: 'mine' }] });
  // @ts-expect-error only some events have it
  event.recovered;
  if (event.type === 'run:started') event.recovered.toFixed();
  // @ts-expect-error nothing else of the package is public
  await import('nightshift/dist/cli/main.js');
  return shift.run().result;
}
`;
