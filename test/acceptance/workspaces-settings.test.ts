import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Ended, Project, type ShiftHandle, shellTask, task } from '../harness.ts';
import { Forge } from '../kit/forge.ts';
import { Repository } from '../kit/real-git.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const STREAM = { agent: 'shell', parallel: true, 'current-batch-size': 4, dispatch: 'stream', attempts: 1 };

function reasonsOf({ events }: Ended): Record<number, string> {
  const failed = events.filter(({ type, to }) => type === 'item:recorded' && to === 'failed');
  return Object.fromEntries(failed.map(({ index, reason }) => [index + 1, reason]));
}

test('W1 W5 W6 W8 rows of a repository: `include`, `setup` and a port prepare them, limits and `protect` judge them, a branch keeps them', async () => {
  const forge = new Forge();
  const project = new Project();
  const repository = new Repository(project.root, {
    'src/a.txt': 'a\n',
    'test/check.sh': 'grep -q changed "$1"\n',
    '.gitignore': '.nightshift\n.env.local\ndeps\nprepared\n',
  });
  project.write('.env.local', 'KEY=local\n');
  project.write('deps/tool', 'tool\n');
  const work = `{ cat .env.local deps/tool prepared; echo changed; } > "src/{name}.txt"
echo "port=$NIGHTSHIFT_PORT" >> "$NIGHTSHIFT_OUTPUT"
case {name} in
  outside) echo x > outside.txt ;; denied) echo x > src/denied.key ;; files) touch src/1 src/2 src/3 ;;
  lines) seq 100 > src/lines.txt ;; tests) echo true > test/check.sh; rm src/tests.txt ;;
esac`;
  const limits = ['- allow-paths: src/**', '- deny-paths: src/*.key', '- max-files: 3', '- max-lines: 50'];
  const names = ['fine', 'outside', 'denied', 'files', 'lines', 'tests', 'other'];
  const shift = project.shift('night', {
    settings: {
      ...STREAM,
      ...{ workspace: 'worktree', deliver: 'branch', message: 'Do {name}' },
      ...{ include: '.env.local, link:deps', setup: 'echo "made for $NIGHTSHIFT_BRANCH" > prepared' },
    },
    table: `name,work\n${names.map((name) => `${name},todo\n`).join('')}`,
    tasks: {
      work: shellTask(
        work,
        'sh test/check.sh "src/{name}.txt"',
        [...limits, '- protect: test/**', '- outputs: port, branch, commit'].join('\n'),
      ),
    },
  });
  const ended = await shift.start([], { env: forge.env });
  expect(ended.code).toBe(3);
  expect(reasonsOf(ended)).toEqual({
    2: expect.stringMatching(/outside\.txt/),
    3: expect.stringMatching(/src\/denied\.key/),
    4: expect.stringMatching(/4 files/),
    5: expect.stringMatching(/lines/),
    6: expect.stringMatching(/test\/check\.sh/),
  });
  const [fine, , , , , , other] = shift.rows();
  for (const row of [fine!, other!]) {
    const branch = `nightshift/night/${row.name}`;
    expect([row.work, row.branch, row.commit]).toEqual(['done', branch, repository.git('rev-parse', branch)]);
    const text = `KEY=local\ntool\nmade for ${branch}\nchanged`;
    expect(repository.git('show', `${branch}:src/${row.name}.txt`)).toBe(text);
    expect(repository.git('diff', '--name-only', `main...${branch}`)).toBe(`src/${row.name}.txt`);
  }
  const ports = shift.column('port').filter((port) => port !== '');
  expect(new Set(ports).size).toBe(ports.length);
  // What is delivered is gone; what failed is there to be looked at.
  expect(forge.folders().map((folder) => /\/\d+-([^/]*)$/.exec(folder)![1])).toEqual(
    expect.arrayContaining(['outside', 'denied', 'files', 'lines', 'tests']),
  );
  expect(forge.folders()).toHaveLength(5);
  expect(repository.git('worktree', 'list').split('\n')).toHaveLength(6);
  expect(existsSync(project.path('prepared'))).toBe(false);
});

test('W1 W5 W8 copies of a folder without git: a patch for each row; a setup that fails is told as such', async () => {
  const forge = new Forge();
  const project = new Project();
  project.write('notes/one.txt', 'one\n');
  const shift = project.shift('night', {
    settings: {
      ...STREAM,
      ...{ workspace: 'copy', 'working-dir': 'notes', deliver: 'patch', author: 'Ada <ada@example.org>' },
      setup: 'test {name} != bad || { echo "no room" >&2; exit 1; }',
    },
    table: 'name,work\na,todo\nbad,todo\nb,todo\n',
    tasks: { work: shellTask('echo {name} >> one.txt; echo {name} > "{name}.txt"', 'test -s "{name}.txt"') },
  });
  const ended = await shift.start([], { env: forge.env });
  expect(shift.column('work')).toEqual(['done', 'failed', 'done']);
  expect(reasonsOf(ended)[2]).toMatch(/setup.*no room/s);
  expect([project.read('notes/one.txt'), readdirSync(project.path('notes'))]).toEqual(['one\n', ['one.txt']]);
  const patches = readdirSync(project.path(shift.folder, 'patches'));
  expect(patches).toEqual(['1-a.patch', '3-b.patch']);
  const target = new Repository(project.path('target'), { 'one.txt': 'one\n' });
  target.git('am', '-q', project.path(shift.folder, 'patches', '3-b.patch'));
  expect(target.git('log', '-1', '--format=%an')).toBe('Ada');
  expect(readFileSync(project.path('target', 'one.txt'), 'utf8')).toBe('one\nb\n');
});

test('W10 `max-deliveries` sends so many in a run; the others are done and wait for `deliver`', async () => {
  const forge = new Forge();
  const project = new Project();
  const repository = new Repository(project.root, { 'a.txt': 'a\n', '.gitignore': '.nightshift\n' });
  const shift = project.shift('night', {
    settings: { ...STREAM, workspace: 'worktree', deliver: 'merge', into: 'next', 'max-deliveries': 1 },
    table: 'name,work\na,todo\nb,todo\nc,todo\n',
    tasks: { work: shellTask('echo {name} > "{name}.new"', 'test -s "{name}.new" && test -n "$NIGHTSHIFT_PORT"') },
  });
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  const merged = () => Number(repository.git('rev-list', '--count', 'main..next'));
  expect([shift.column('work'), merged(), forge.folders().length]).toEqual([['done', 'done', 'done'], 1, 2]);
  const sent = await project.run(['deliver', 'night', '--yes'], { env: forge.env });
  expect([sent.code, merged(), forge.folders()]).toEqual([0, 3, []]);
});

test('W5 W6 W8 W10 limits, diff, show and delivery agree on a row whose setup leaves files that git does not ignore', async () => {
  const project = new RepositoryProject({ 'a.txt': 'a\n', 'lock.json': '{}\n' });
  const shift = project.shift('night', {
    settings: {
      ...{ agent: 'shell', attempts: 1, workspace: 'worktree', 'working-dir': 'repository' },
      ...{ deliver: 'merge', 'deliver-when': 'approved' },
      setup: 'mkdir deps; echo made > deps/tool.txt; echo locked >> lock.json',
    },
    table: 'name,work\none,todo\ntwo,todo\n',
    tasks: {
      work: shellTask(
        'cat deps/tool.txt > "{name}.txt"',
        'grep -q made deps/tool.txt && grep -q made "{name}.txt"',
        '- allow-paths: *.txt\n- max-files: 1',
      ),
    },
  });
  const ended = await shift.spawn([], { env: project.env }).ended;
  expect([ended.code, shift.column('work'), reasonsOf(ended)]).toEqual([0, ['done', 'done'], {}]);
  const out = async (...args: string[]) => (await project.command(args)).stdout;
  expect(await out('diff', 'night', '1', '--name-only')).toBe('one.txt\n');
  expect(await out('show', 'night', '1')).toContain('change: 1 file changed, +1 -0');
  expect(await out('workspaces', 'night')).toMatch(/^row 1 one: held for approval; 1 file changed, \+1 -0/);
  expect(await out('deliver', 'night', '--dry-run')).toContain('(1 file, 1 line)');
  // The second one is put on top of the first: its checks need what `setup` made.
  expect(await out('deliver', 'night', '--yes')).toContain('2 of 2 rows delivered');
  const merged = 'nightshift/night/merged';
  expect(project.git('repository', 'diff', '--name-only', 'main', merged)).toBe('one.txt\ntwo.txt');
  expect(await out('workspaces', 'night')).toBe('2 workspaces delivered and removed\n');
  expect(await out('diff', 'night', '2', '--name-only')).toBe('two.txt\n');
});

test('W5 start and doctor warn of a browser that items at once use in one folder, and not of one for each', async () => {
  const project = new Project();
  new Repository(project.root, { '.gitignore': '.nightshift\nbin\n' });
  project.write('bin/opencode', '#!/bin/sh\nexit 1\n');
  chmodSync(project.path('bin/opencode'), 0o755);
  project.write('.mcp.json', JSON.stringify({ mcpServers: { playwright: { command: 'true' } } }));
  const env = { PATH: `${project.path('bin')}:${process.env.PATH}` };
  const table = 'name,work\na,todo\n';
  const tasks = {
    work: task({ configuration: '- tools: playwright', steps: '1. Look at {name}', validation: '- seen' }),
  };
  const settings = { agent: 'opencode', parallel: true, patience: '1ms' };
  const [together, apart] = [
    project.shift('together', { settings, table, tasks }),
    project.shift('apart', { settings: { ...settings, workspace: 'worktree' }, table, tasks }),
  ];
  const warning = /several items at once use the MCP server playwright in one folder/;
  const warned = async (shift: ShiftHandle) => {
    const { events } = await shift.start([], { env });
    expect(events.map(({ type }) => type)).toContain('run:finished');
    return events.filter(({ type, message }) => type === 'run:warning' && warning.test(message)).length;
  };
  expect([await warned(together), await warned(apart)]).toEqual([1, 0]);
  const doctor = await project.run(['doctor'], { env });
  expect(doctor.stdout.match(/several items at once use/g)).toHaveLength(1);
  expect(doctor.stdout).toMatch(/^note +together: work: several items at once use/m);
});
