import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { AGENT, Project, ShiftHandle } from './harness.ts';
import { Forge } from './kit/forge.ts';
import { Repository } from './kit/real-git.ts';
import { listing } from './listing.ts';

const NAMES = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

interface Case {
  /** Where the agent works, below the project; by default, the folder of the sample data. */
  folders?: readonly string[];
  /** Folders that are git repositories, below the project. Rows have workspaces then. */
  repositories?: readonly string[];
  /** For each repository: a branch, and the commits that it has besides those of `main`. */
  subjects?: readonly (readonly [branch: string, subjects: readonly string[]])[];
  /** What an agent runs after it has written its files, by row, with right and with wrong results. */
  runs?: { right: string; wrong: readonly string[] };
  /** What is wrong with each row at first, as the checks say it. */
  reasons: readonly RegExp[];
  /** Of the table at the end. */
  columns?: Record<string, readonly string[]>;
}

/** As `npm install` does for a folder, which takes a second longer. */
const install = (version: string) => `mkdir -p node_modules && ln -sfn ../vendor/money-${version} node_modules/money`;

const SERVICES = ['invoices', 'shop', 'reports'];
const UPGRADED = SERVICES.map((name) => join('upgrade-repositories', name));

/** What devs write is in fixtures/examples: NAME/right/ROW and NAME/wrong/ROW. */
const CASES: Record<string, Case> = {
  'upgrade-repositories': {
    repositories: UPGRADED,
    folders: UPGRADED,
    subjects: UPGRADED.map((_, i) => [`nightshift/night/${SERVICES[i]}`, ['Upgrade money to 2.0.0']]),
    runs: { right: install('2.0.0'), wrong: ['2.0.0', '1.0.0', '2.0.0'].map(install) },
    reasons: [
      /format takes \{ cents, currency \}/,
      /version 1\.0\.0 is installed/,
      /it changed test\/report\.test\.js/,
    ],
  },
  'tests-for-modules': {
    repositories: ['tests-for-modules'],
    subjects: [['nightshift/night/merged', ['Test src/duration.js', 'Test src/ranges.js', 'Test src/slug.js']]],
    reasons: [/only 2 tests/, /duration\.js:5: no test fails/, /not ok 1 - a range has all its numbers/],
  },
  'translate-pages': {
    reasons: [
      /targets of links: sammlung\.md#federn/,
      /there is no pages\/fr\/owls\.md/,
      /as in the original: The moon pulls/,
      /code blocks: .*pip installiere/s,
    ],
  },
  'triage-issues': {
    reasons: [
      /label defect is none of/,
      /not in the issue, or too short: Please add/,
      /priority low is none of/,
      /duplicate_of 104 is not an older issue/,
    ],
    columns: { label: ['bug', 'feature', 'security', 'duplicate'], duplicate_of: ['', '', '', '101'] },
  },
  'fix-lint-rule': {
    reasons: [/not ok 2 - a quantity of 0/, /The rule is not switched off/, /visitor\.js:4: eqeqeq/],
  },
  'extract-fields': {
    reasons: [
      /total: not in the document, or too long: Total due/,
      /total: 245\.00 is not in: Amount due CHF 220\.50/,
      /number: missing\ndate: .*9 Nov 2026/,
    ],
    columns: { number: ['NL-2026-0117', '88213', ''], total: ['1150.73', '220.50', '188.40'] },
  },
  'document-endpoints': {
    reasons: [/limit is missing/, /the body lacks places/, /openapi\.json has no 403/, /lacks -X DELETE/],
  },
};

async function create(example: string, ...options: string[]): Promise<ShiftHandle> {
  const project = new Project();
  const { code, stderr } = await project.run(['create', 'night', '--example', example, ...options]);
  expect([code, stderr]).toEqual([0, '']);
  return new ShiftHandle(project, 'night');
}

/** Lets the agent fixture play the devs. A qa says that all is well: what is wrong here, checks must find. */
function play(shift: ShiftHandle, example: string, kind: 'right' | 'wrong'): void {
  const { folders = [example], repositories = [], runs } = CASES[example]!;
  const answers = resolve('test/fixtures/examples', example, kind);
  const run = kind === 'right' ? runs?.right : runs && `case $NIGHTSHIFT_ROW in ${choices(runs.wrong)} esac`;
  const report = { usage: { cost_usd: 0.01 } };
  // The second time, a folder is there that two rows made at once.
  const copy = `cp -R "${answers}/$NIGHTSHIFT_ROW/." .`;
  const dev = { sh: `${copy} 2>&1 || ${copy}\n${run ?? ''}`, report };
  const behaviour = JSON.stringify({ dev, qa: { report } });
  for (const folder of folders) shift.project.write(join(folder, 'behaviour.json'), behaviour);
  for (const folder of repositories) new Repository(shift.project.path(folder));
}

const choices = (lines: readonly string[]) => lines.map((line, i) => `${i + 1}) ${line} ;;`).join(' ');

const failures = (shift: ShiftHandle) =>
  shift
    .journal()
    .filter(({ type, to }) => type === 'item:recorded' && to === 'failed')
    .sort((a, b) => a.index - b.index);

test('every example is tested', () => {
  expect([...Object.keys(CASES), 'enrich-records'].sort()).toEqual(NAMES);
});

test.each(Object.keys(CASES))(
  'X2 example %s: its checks refuse wrong results and accept right ones',
  async (example) => {
    const { reasons, columns = {}, repositories, subjects = [] } = CASES[example]!;
    const env = repositories ? new Forge().env : {};
    const shift = await create(example, '--agent', 'command');
    shift.manager = shift.manager.replace(
      '- agent: command',
      `$&\n- command: ${AGENT}\n- attempts: 1\n- current-batch-size: 4`,
    );
    const prepare = shift.project.path(example, 'make-repositories.sh');
    if (existsSync(prepare)) execFileSync('sh', [prepare], { env: { ...process.env, ...env } });
    play(shift, example, 'wrong');
    expect((await shift.start([], { env })).code).toBe(3);
    for (const [row, reason] of reasons.entries()) expect(failures(shift)[row]?.reason).toMatch(reason);
    play(shift, example, 'right');
    const { code, stdout } = await shift.project.run(['retry', 'night'], { env });
    expect(code, stdout).toBe(0);
    for (const [name, values] of Object.entries(columns)) expect(shift.column(name)).toEqual(values);
    for (const [i, [branch, expected]] of subjects.entries()) {
      const repository = new Repository(shift.project.path(repositories![i]!));
      expect(repository.git('log', '--format=%s', branch, '--not', 'HEAD').split('\n').sort()).toEqual(expected);
    }
    expect(shift.journal().filter(({ type }) => type === 'run:warning')).toEqual([]);
  },
);

/** The first block of a language below "What to change" of an example. */
function blockOf(example: string, language: string, index = 0): string {
  const [, rest = ''] = readFileSync(`examples/${example}/README.md`, 'utf8').split('## What to change');
  const blocks = [...rest.matchAll(/^( *)```(\w+)\n(.*?)^ *```$/gms)].filter(([, , found]) => found === language);
  const [, indent = '', , text = ''] = blocks[index] ?? [];
  return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

/** Puts settings in the place of those that a file has, as a person would. */
function withSettings(text: string, heading: string, lines: string): string {
  const keys = lines
    .trim()
    .split('\n')
    .map((line) => /^- [^:]+:/.exec(line)![0]);
  const kept = text.split('\n').filter((line) => !keys.some((key) => line.startsWith(key)));
  return kept.join('\n').replace(`${heading}\n\n`, `$&${lines}`);
}

test('W1 W8 the README of upgrade-repositories: its lines for your own repositories are a shift that delivers', async () => {
  const example = 'upgrade-repositories';
  const forge = new Forge();
  const dev = { sh: 'echo new > index.js', report: { usage: { cost_usd: 0.01 } } };
  const files = { 'test/a.txt': 'a\n', '.gitignore': 'ready\n', 'behaviour.json': JSON.stringify({ dev }) };
  for (const name of ['billing', 'website']) forge.create(`acme/${name}`, files);
  const project = new Project();
  const command = (line: string) =>
    project.run(line.split(' '), { env: forge.env, ...(line.startsWith('deliver') ? { answers: ['y'] } : {}) });
  await command(`create upgrades --example ${example} --agent command`);
  rmSync(project.path(example), { recursive: true });
  const shift = new ShiftHandle(project, 'upgrades');
  const settings = blockOf(example, 'markdown').replace('npm ci', 'touch ready');
  const manager = withSettings(shift.manager, '## Shift Configuration', settings);
  shift.manager = manager.replace('- agent: command', `$&\n- command: ${AGENT}`);
  shift.tableText = blockOf(example, 'csv');
  const task = withSettings(shift.task('upgrade'), '## Configuration', blockOf(example, 'markdown', 1));
  const checks = ['test -e ready', blockOf(example, 'sh').replace('npm test', 'test -e test/a.txt')];
  const validation = checks.map((check) => `- It fits\n\n  \`\`\`sh\n  ${check.trim()}\n  \`\`\`\n`).join('\n');
  project.write(`${shift.folder}/upgrade.md`, task.replace(/(?<=## Validation\n\n).*/s, validation));

  const lines = blockOf(example, 'sh', 1).split('\n');
  const commands = lines.flatMap((line) => /^nightshift (.*?) *(#|$)/.exec(line)?.[1] ?? []);
  expect(commands.map((line) => line.split(' ')[0])).toEqual([
    'start',
    'test-task',
    'start',
    'diff',
    'deliver',
    'sync',
  ]);
  for (const line of commands) {
    if (line.startsWith('deliver')) expect(forge.pulls()).toEqual([]);
    const { code, stderr } = await command(line);
    expect([line, code, stderr]).toEqual([line, 0, '']);
  }
  expect(forge.pulls().map(({ repo, title }) => `${repo}: ${title}`)).toEqual([
    'github.com/acme/billing: Upgrade zod to 4.1.0',
    'github.com/acme/website: Upgrade zod to 4.1.0',
  ]);
  expect(shift.column('pr_url')).toEqual([expect.stringMatching(/billing/), expect.stringMatching(/website/)]);
  expect(forge.git('acme/billing', 'diff', '--name-only', 'main', 'nightshift/upgrades/billing')).toBe('index.js');
});

/** Passes requests on, but first says for each path: too many requests, and once for /cities/7: broken. */
async function moodyProxy(target: string): Promise<{ url: string; statuses: number[] }> {
  const statuses: number[] = [];
  const seen = new Map<string, number>();
  const server = createServer(async ({ url = '', headers }, response) => {
    const count = (seen.get(url) ?? 0) + 1;
    seen.set(url, count);
    const answer =
      count > 1 && !(url === '/cities/7' && count === 2)
        ? await fetch(`${target}${url}`, { headers: { authorization: headers.authorization ?? '' } })
        : new Response('{}', { status: count === 1 ? 429 : 503 });
    statuses.push(answer.status);
    response.writeHead(answer.status, { 'retry-after': '0.05' }).end(await answer.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, statuses };
}

/** The API of the example, as its README starts it. */
async function startApi({ project }: ShiftHandle, rate: number): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, ['enrich-records/api.mjs', '0', `${rate}`], {
    cwd: project.root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface(child.stdout!), 'line');
  return /^http:[^,]+/.exec(line)![0];
}

test('X2 X5 example enrich-records: waits at a rate limit, tries later, and refuses the record of another city', async () => {
  const shift = await create('enrich-records');
  const proxy = await moodyProxy(await startApi(shift, 1000));
  const env = shift.project.read(`${shift.folder}/.env`);
  expect(env).toContain('API_URL=http://127.0.0.1:8787\n');
  shift.project.write(`${shift.folder}/.env`, env.replace('http://127.0.0.1:8787', proxy.url));
  shift.manager = shift.manager.replace('- agent: shell', '$&\n- attempts: 1\n- current-batch-size: 4');
  shift.tableText = shift.tableText.replace('3,Turin', '3,Torino');
  expect((await shift.start()).code).toBe(3);
  expect(failures(shift).map(({ reason }) => reason)).toEqual([expect.stringContaining('the API knows 3 as Turin')]);
  expect(proxy.statuses).toEqual(expect.arrayContaining([429, 503, 200]));
  await shift.project.run(['table', 'night', 'edit', 'city', '2', 'Turin']);
  expect((await shift.project.run(['retry', 'night'])).code).toBe(0);
  expect(shift.column('country')).toEqual(['PT', 'NO', 'IT', 'BE', 'PT', 'SE', 'CH', 'EE']);
  expect(shift.column('population')[5]).toBe('357377');
});

test('the API of enrich-records wants a key, and refuses more requests than it allows', async () => {
  const shift = await create('enrich-records');
  const url = await startApi(shift, 1);
  expect((await fetch(`${url}/cities/1`)).status).toBe(401);
  const headers = { authorization: 'Bearer sample-key-for-the-local-api' };
  const burst = () => Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/cities/1`, { headers })));
  while (!(await burst()).some(({ status }) => status === 429));
});

test('`create --list-examples` prints each example in one line, and the READMEs have the same headings', async () => {
  const project = new Project();
  const { code, stdout } = await project.run(['create', '--list-examples']);
  expect(code).toBe(0);
  for (const name of NAMES) {
    const [heading, , summary, ...rest] = readFileSync(`examples/${name}/README.md`, 'utf8').split('\n');
    expect(heading).toBe(`# ${name}`);
    expect(stdout).toContain(`\n${name.padEnd(22)}${summary}\n`.slice(NAMES[0] === name ? 1 : 0));
    const headings = rest.filter((line) => line.startsWith('## '));
    expect(headings).toEqual(
      ['What it does', 'For whom', 'Columns', 'Cost', 'What to change'].map((text) => `## ${text}`),
    );
  }
  const { examples } = JSON.parse((await project.run(['create', '--list-examples', '--json'])).stdout);
  expect(examples.map(({ name }: { name: string }) => name)).toEqual(NAMES);
});

test('F5 `create --example` writes the shift under its name, and never over a file of yours', async () => {
  const project = new Project();
  const run = (name: string, ...options: string[]) =>
    project.run(['create', name, '--example', 'translate-pages', ...options]);
  project.write('translate-pages/terms.md', 'mine');
  project.write('translate-pages/pages', 'no folder');
  const before = listing(project.root);
  const refused = await run('german');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('with other content: translate-pages/pages, translate-pages/terms.md\n');
  expect(listing(project.root)).toEqual(before);

  rmSync(project.path('translate-pages'), { recursive: true });
  const { code, stdout } = await run('german', '--agent', 'claude');
  expect(code).toBe(0);
  expect(stdout).toContain('4 rows, 1 task (translate), agent claude');
  const manager = project.read('.nightshift/german/manager.md');
  const today = new Date().toISOString().slice(0, 10);
  expect(manager).toMatch(/^# german\n.*- name: german\n- created: /s);
  expect([today, new Date().toISOString().slice(0, 10)]).toContain(/created: (.*)/.exec(manager)![1]);
  expect(manager).toContain('- agent: claude\n');
  expect(project.read('translate-pages/terms.md')).toBe(
    readFileSync('examples/translate-pages/sample/terms.md', 'utf8'),
  );

  expect(stdout).not.toContain('Missing');
  const after = listing(project.path('translate-pages'));
  const command = await run('mine', '--agent', 'command');
  expect([command.code, command.stdout]).toEqual([
    0,
    expect.stringMatching(/^Missing: .*`- command: LINE`.*\nNext: /m),
  ]);
  expect(JSON.parse((await run('yours', '--agent', 'acp', '--json')).stdout).needs).toBe('acp-command');
  expect((await run('french')).code).toBe(0);
  expect(listing(project.path('translate-pages'))).toEqual(after);
});

test('R4 `create --example` that is refused leaves nothing behind', async () => {
  const project = new Project();
  project.write('.nightshift/taken/manager.md', '');
  const before = listing(project.root);
  for (const [args, said] of [
    [['taken', '--example', 'fix-lint-rule'], /already a shift taken/],
    [['Bad Name', '--example', 'fix-lint-rule'], /not a shift name/],
    [
      ['new', '--example', 'fix-lint-rules'],
      /no example "fix-lint-rules"\n.*did you mean fix-lint-rule\? examples are: document-/,
    ],
    [['new', '--example', '../docs'], /no example/],
    [['new', '--example', 'fix-lint-rule', '--from', 'a.csv'], /--example and --from can't be combined/],
    [['new', '--example', 'fix-lint-rule', '--agent', 'shel'], /did you mean shell\?/],
    [
      ['new', '--example', 'fix-lint-rule', '--agent', 'shell'],
      /are text, and the agent shell runs only scripts\n.*opencode/,
    ],
    [['--example', 'fix-lint-rule'], /missing required argument 'shift'/],
  ] as const) {
    const { code, stderr } = await project.run(['create', ...args]);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(said)]);
  }
  const contents = (of: Record<string, string>) => Object.keys(of);
  expect(contents(listing(project.root)).filter((file) => !/gitignore|archive/.test(file))).toEqual(contents(before));
});
