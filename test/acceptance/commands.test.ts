import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, shellTask, task, until } from '../harness.ts';

/** Every file of a project with its bytes and its time of change, without what the engine keeps for itself. */
function state(project: Project): Record<string, string> {
  const files = readdirSync(project.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/.engine/') && !file.endsWith('.lock') && !file.endsWith('calls.jsonl'));
  return Object.fromEntries(files.map((file) => [file, `${statSync(file).mtimeMs} ${readFileSync(file, 'utf8')}`]));
}

const TABLE = 'name,place,work\r\nalpha,"Rome, old",done\r\nbeta,Oslo,failed\r\ngamma,Oslo,todo\r\n';

function night(
  project: Project,
  work = agentTask('1. Visit {name} in {place} as {ENV:USERNAME}', '- {name} has {ENV:USERNAME}'),
): ShiftHandle {
  return project.shift('night', { table: TABLE, tasks: { work }, env: 'USERNAME=mr-secretive\n' });
}

test.each([
  ['status', ['status', 'night']],
  ['show', ['show', 'night', '2']],
  ['list', ['list']],
  ['preview', ['preview', 'night', 'work', '--row', '2']],
  ['steps', ['steps', 'night', 'work']],
  ['start --dry-run', ['start', 'night', '--dry-run']],
  ['retry --dry-run', ['retry', 'night', '--dry-run']],
  ['doctor', ['doctor']],
  ['nightshift alone', []],
  ['table count', ['table', 'night', 'count']],
  ['table headers', ['table', 'night', 'headers']],
  ['table show', ['table', 'night', 'show']],
  ['table search', ['table', 'night', 'search', '--exact', 'Oslo', '--select', 'place']],
  ['table slice', ['table', 'night', 'slice', '--index', '1']],
])('%s only reads: no byte changes, --json holds one JSON object, exit 0', async (_, args) => {
  const project = new Project();
  night(project);
  const before = state(project);
  const plain = await project.run(args);
  const json = await project.run([...args, '--json']);
  expect([plain.code, json.code, json.stderr]).toEqual([0, 0, '']);
  expect(plain.stdout.trim()).not.toBe('');
  expect(JSON.parse(json.stdout)).toBeTypeOf('object');
  expect(json.stdout.trim().split('\n')).toHaveLength(1);
  expect(state(project)).toEqual(before);
  expect(project.calls()).toEqual([]);
});

test('an error in --json is one JSON object with code, message, file and line; the words go to standard error', async () => {
  const project = new Project();
  const shift = night(project);
  shift.tableText = 'name,work\nalpha,maybe\n';
  const { code, stdout, stderr } = await project.run(['start', 'night', '--json']);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'error',
    code: 'bad-table',
    file: project.path('.nightshift/night/table.csv'),
    line: 2,
  });
  expect(stderr).toContain('error: ');
});

test('no shift named: the only one there is, else an error that lists them; unknown names say the nearest', async () => {
  const project = new Project();
  night(project);
  expect((await project.run(['status'])).stdout).toContain('night: 3 items, 1 completed, 1 failed, 1 remaining');
  expect((await project.run(['table', 'count'])).stdout).toBe('3\n');
  project.shift('noon', { table: 'name,work\n', tasks: { work: shellTask('true') } });
  for (const args of [['status'], ['start'], ['table', 'count']]) {
    const { code, stderr } = await project.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('name one of: night, noon')]);
  }
  const typo = await project.run(['status', 'nigth']);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean night?')]);
  const outside = await project.run(['status'], { cwd: '/' });
  expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('there is no .nightshift folder')]);
  expect((await project.run(['status', 'night'], { cwd: project.path('.nightshift/night') })).code).toBe(0);
  for (const args of [
    ['frobnicate'],
    ['start', 'night', '--frob'],
    ['show', 'night', '0'],
    ['show', 'night', '4'],
    ['preview', 'night', 'work', '--row', 'x'],
    ['start', 'night', '--rows', '5:3'],
    ['table', 'night', 'slice', '--index', '3'],
  ]) {
    expect([args, (await project.run(args)).code]).toEqual([args, 2]);
  }
  expect((await project.run(['--help'])).stdout).toMatch(/Rows are 1-based/);
});

test('D1 a block stands in the prompt as it does in the task file, indented as its fence is', async () => {
  const project = new Project();
  const text = task({
    steps:
      '1. Do {name}\n\n   ```sh\n   for i in 1 2; do\n     echo "{name}"\n\n   done\n   ```\n2. - ~~~sh\n     true\n     ~~~',
    validation: '- It is there\n  ```sh\n  if test -e x; then\n  \techo "{name}"\n  fi\n  ```',
  });
  project.shift('night', { table: 'name,work\na,todo\n', tasks: { work: text } });
  const preview = JSON.parse((await project.run(['preview', 'night', 'work', '--row', '1', '--json'])).stdout);
  expect(preview.dev).toContain(text.replaceAll('{name}', 'a').trimEnd());
});

test('preview shows byte for byte what is sent, but for secrets, and the names of variables given and withheld', async () => {
  const project = new Project();
  const shift = night(project);
  const env = { MY_OWN_THING: 'x' };
  const preview = JSON.parse((await project.run(['preview', 'night', 'work', '--row', '3', '--json'], { env })).stdout);
  const plain = (await project.run(['preview', 'night', 'work', '--row', '3'], { env })).stdout;
  expect((await shift.start([], { env })).code).toBe(3);
  const [dev, qa] = ['dev', 'qa'].map((role) => project.calls().find((call) => call.role === role));
  expect(dev.prompt).toContain('1. Visit gamma in Oslo as mr-secretive');
  const masked = (prompt: string) => prompt.replaceAll('mr-secretive', '[USERNAME]');
  expect(preview.dev).toBe(masked(dev.prompt));
  expect(preview.qa).toBe(masked(qa.prompt));
  expect(plain).toContain(masked(dev.prompt));
  expect(plain).toContain(masked(qa.prompt));
  expect(preview.environment.withheld).toContain('MY_OWN_THING');
  expect(preview.environment.given).toEqual(
    Object.keys(dev.env)
      .filter((name) => !/^(PWD|SHLVL|OLDPWD|_)$/.test(name))
      .sort(),
  );
  expect(plain).toMatch(/withheld \(names\): .*MY_OWN_THING/);
});

test('test-task does and judges one row whatever its status, with a key of its own; table, manifest and Steps keep their bytes', async () => {
  const project = new Project();
  const shift = night(project);
  project.behave({ dev: { report: { recommendations: ['Learn this'], captured_values: { found: 'it' } } } });
  const before = state(project);
  const good = await project.run(['test-task', 'night', 'work', '--row', '1']);
  expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('row 1 alpha: work would be done (1 attempt)')]);
  expect(good.stdout).toContain('recommends: Learn this');
  expect(good.stdout).toContain('captured found=it');
  project.behave({ 'qa:beta': { report: { overall_status: 'FAIL', summary: 'not at home' } } });
  const bad = await project.run(['test-task', 'night', 'work', '--row', '2', '--json']);
  expect(bad.code).toBe(3);
  const types = bad.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types).toEqual(['dev:started', 'attempt:finished', 'dev:finished', 'qa:started', 'qa:finished']);
  project.behave({ 'dev:beta': { exit: 75 } });
  expect((await project.run(['test-task', 'night', 'work', '--row', '2'])).code).toBe(4);
  const after = state(project);
  delete after[project.path('behaviour.json')];
  // Written before any secret is.
  delete after[project.path('.nightshift/.gitignore')];
  const { [project.path('behaviour.json')]: _, ...expected } = before;
  expect(after).toEqual(expected);
  expect(project.calls().some(({ role }) => role === 'manager')).toBe(false);
  const keys = new Set(project.calls().map(({ key }) => key));
  expect(keys.size).toBe(3);
  const show = JSON.parse((await project.run(['show', 'night', '1', '--json'])).stdout);
  expect(keys).not.toContain(show.tasks[0].key);
  expect(show.tasks[0].attempts ?? []).toEqual([]);
  expect(shift.column('work')).toEqual(['done', 'failed', 'todo']);
});

test('start --task and --rows do only that part; --dry-run says what would be done', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true },
    table: `name,first,second\n${['a', 'b', 'c', 'd'].map((name) => `${name},todo,todo\n`).join('')}`,
    tasks: { first: shellTask('true'), second: shellTask('true') },
  });
  const plan = JSON.parse((await project.run(['start', 'night', '--dry-run', '--rows', '2:', '--json'])).stdout);
  expect(plan).toMatchObject({ eligible: 3, first: { task: 'first', indices: [1, 2], size: 2 } });
  expect((await shift.start(['--rows', '2:3'])).code).toBe(0);
  expect(shift.column('first')).toEqual(['todo', 'done', 'done', 'todo']);
  expect(shift.column('second')).toEqual(['todo', 'done', 'done', 'todo']);
  expect((await shift.start(['--task', 'first'])).code).toBe(0);
  expect(shift.column('first')).toEqual(['done', 'done', 'done', 'done']);
  expect(shift.column('second')).toEqual(['todo', 'done', 'done', 'todo']);
  expect((await shift.start(['--task', 'third'])).code).toBe(2);
});

test('status groups failed rows by reason and says who runs it; show has attempts, verdicts and the transcript', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\nalpha,todo\nbravo,todo\ncharlie,todo\n',
    tasks: {
      work: shellTask(
        '[ {name} = charlie ] && { touch last; until [ -e go ]; do sleep 0.05; done; exit 0; }; echo "no {name} here"; exit 4',
      ),
    },
  });
  const running = shift.launch();
  await until(() => project.exists('last'), 'the last item');
  const during = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(during.running).toMatchObject({ pid: process.pid });
  expect(during.tasks).toEqual([{ task: 'work', counts: { todo: 0, in_progress: 1, qa: 0, done: 0, failed: 2 } }]);
  expect((await project.run(['list'])).stdout).toContain('night  0/3 completed, 2 failed, running');
  project.write('go', '');
  await running.ended;
  const { stdout } = await project.run(['status', 'night']);
  expect(stdout).toContain(
    'failed: work, 2 rows after 3 attempts\n  FAILED (step 1): exit code 4: no alpha here\n  rows 1 alpha, 2 bravo\n',
  );
  const show = (await project.run(['show', 'night', '1'])).stdout;
  expect(show.match(/attempt \d: FAILED \(step 1\)/g)).toHaveLength(3);
  expect(show).toMatch(/why: FAILED \(step 1\): exit code 4: no alpha here/);
  const transcript = /transcript: (\S+)/.exec(show)![1]!;
  expect(project.read(transcript)).toContain('no alpha here');
  const done = JSON.parse((await project.run(['show', 'night', '3', 'work', '--json'])).stdout);
  expect(done.tasks[0]).toMatchObject({
    status: 'done',
    qa: { status: 'PASS', verdicts: [{ status: 'PASS', checked: true }] },
  });
});

test('table: show, search and slice find rows; --status and --task choose; update-table is the same command', async () => {
  const project = new Project();
  night(project);
  const rows = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout).rows;
  const names = (found: { name: string }[]) => found.map(({ name }) => name);
  expect(await rows('table', 'night', 'slice', '--index', '0')).toEqual([
    { row: 1, index: 0, name: 'alpha', place: 'Rome, old', work: 'done' },
  ]);
  expect(names(await rows('table', 'night', 'show', '--status', 'failed', '--task', 'work'))).toEqual(['beta']);
  expect(names(await rows('update-table', 'night', 'search', '--exact', 'Oslo', '--select', 'place'))).toEqual([
    'beta',
    'gamma',
  ]);
  expect(await rows('table', 'night', 'search', '--exact', 'oslo', '--select', 'place')).toEqual([]);
  expect((await project.run(['table', 'night', 'slice', '--row', '1'])).stdout).toBe(
    'row,name,place,work\n1,alpha,"Rome, old",done\n',
  );
  expect(names(await rows('table', 'night', 'slice', '--row', '2:3', '--index', '0'))).toEqual([
    'alpha',
    'beta',
    'gamma',
  ]);
  const typo = await project.run(['table', 'night', 'search', '--exact', 'x', '--select', 'plaec']);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean place?')]);
});

test('table edit, add, import and reset touch only their own bytes; a status goes only along its arrows', async () => {
  const project = new Project();
  const shift = night(project);
  const table = (...args: string[]) => project.run(['table', 'night', ...args]);
  expect((await table('edit', 'place', '2', 'Rio, "new"')).code).toBe(0);
  let expected = TABLE.replace('gamma,Oslo', 'gamma,"Rio, ""new"""');
  expect(shift.tableText).toBe(expected);
  expect(JSON.parse((await table('add', 'name=delta', '--json')).stdout)).toEqual({ index: 3, row: 4 });
  expected += 'delta,,todo\r\n';
  expect(shift.tableText).toBe(expected);
  project.write('more.csv', 'place,name\nLima,eps\n"a\nb",zeta\n');
  expect((await table('import', 'more.csv')).code).toBe(0);
  expected += 'eps,Lima,todo\r\nzeta,"a\nb",todo\r\n';
  expect(shift.tableText).toBe(expected);
  for (const args of [
    ['edit', 'work', '0', 'maybe'],
    ['edit', 'work', '2', 'done'],
    ['edit', 'work', '0', 'failed'],
    ['edit', 'nmae', '0', 'x'],
    ['edit', 'name', '99', 'x'],
    ['add', 'nmae=x'],
    ['add', 'name=x', 'work=maybe'],
    ['import', 'gone.csv'],
    ['reset', '--task', 'wrk'],
    ['frob'],
  ]) {
    expect([args, (await table(...args)).code]).toEqual([args, 2]);
    expect(shift.tableText).toBe(expected);
  }
  expect(JSON.parse((await table('reset', '--json')).stdout)).toEqual({ reset: 1, tasks: { work: 1 } });
  expected = expected.replace('beta,Oslo,failed', 'beta,Oslo,todo');
  expect(shift.tableText).toBe(expected);
  expect((await table('reset', '--index', '0', '--index', '5')).code).toBe(0);
  expect(shift.tableText).toBe(expected.replace('old",done', 'old",todo'));
});

test('table: people give rows, from 1 on; scripts may give indices; messages say the row', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,one,two\na,done,done\nb,done,failed\nc,todo,todo\n',
    tasks: { one: shellTask('true'), two: shellTask('true') },
  });
  const table = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.run(['table', 'night', ...args]);
    return [code, stdout + stderr];
  };
  expect(await table('edit', 'name', 'B', '--row', '2')).toEqual([0, 'name of row 2: b -> B\n']);
  expect(await table('edit', 'name', '', '--row', '2')).toEqual([0, 'name of row 2: B -> \n']);
  expect(await table('edit', 'name', '2', 'C')).toEqual([0, 'name of row 3 (index 2): c -> C\n']);
  expect(await table('edit', 'one', 'todo', '--row', '1')).toEqual([
    0,
    'one of row 1: done -> todo\nnote: two of this row keep their status; ' +
      '`nightshift table night reset --task one --row 1` resets them too\n',
  ]);
  expect(await table('reset', '--row', '1:2')).toEqual([0, '3 reset to todo: one 1, two 2\n']);
  shift.tableText = 'name,one,two\na,done,done\nb,done,failed\nc,todo,todo\n';
  expect(await table('reset', '--all', '--task', 'two')).toEqual([0, '2 reset to todo\n']);
  expect(await table('reset', '--all')).toEqual([0, '2 reset to todo\n']);
  expect(shift.tableText).not.toContain('done');
  expect(await table('reset', '--all', '--row', '1')).toEqual([2, expect.stringContaining('not both')]);
  expect(await table('edit', 'name', 'x', '--row', '4')).toEqual([2, expect.stringContaining('rows are 1 to 3')]);
  expect(await table('edit', 'name', 'x')).toEqual([2, expect.stringContaining('edit needs COLUMN VALUE --row N')]);
  expect(await table('slice', '--row', '0')).toEqual([2, expect.stringContaining('the first row is 1')]);
  expect(await table('remove', '--row', '3')).toEqual([0, '1 row removed\n']);
  expect((await project.run(['start', '--dry-run', '--row', '2'])).stdout).toContain('first: one, row 2\n');
});

test('init, create and add-task make a shift that runs; names are checked; nothing is overwritten', async () => {
  const project = new Project();
  const { files } = JSON.parse((await project.run(['init', '--json'])).stdout);
  expect(files.map(({ path }: { path: string }) => path)).toContain('.opencode/agent/nightshift-manager.md');
  expect((await project.run(['init'])).stdout).toContain('is already there');
  expect(project.read('.nightshift/.gitignore').split('\n')).toContain('.env');
  project.write('items.csv', '\uFEFFname;x,place\r\n"a",b\r\n');
  project.write('greet.md', shellTask('echo hello > out-{place}', 'test -e out-{place}'));
  const created = await project.run([
    'create',
    'my-shift',
    '--from',
    'items.csv',
    '--parallel',
    '--agent',
    'shell',
    '--json',
  ]);
  const folder = project.path('.nightshift/my-shift');
  expect(JSON.parse(created.stdout)).toEqual({ shift: 'my-shift', folder, rows: 1, columns: ['name;x', 'place'] });
  const added = await project.run(['add-task', 'my-shift', 'greet', '--from', 'greet.md', '--json']);
  expect(JSON.parse(added.stdout)).toMatchObject({ task: 'greet' });
  const manager = project.read('.nightshift/my-shift/manager.md');
  expect(manager).toMatch(/- name: my-shift\n- created: \d{4}-\d\d-\d\d\n/);
  expect(manager).toMatch(/- max-batch-size: 8\n/);
  expect(manager).toMatch(/- Total items: 1\n- Completed: 0\n- Failed: 0\n- Remaining: 1\n/);
  expect(project.read('.nightshift/my-shift/greet.md')).toBe(project.read('greet.md'));
  expect(project.read('.nightshift/my-shift/table.csv')).toBe('\uFEFFname;x,place,greet\r\n"a",b,todo\r\n');
  expect((await project.run(['start'])).code).toBe(0);
  expect(project.exists('out-b')).toBe(true);

  project.write('greet.md.jsonl', project.read('greet.md'));
  project.write('others.txt', 'name;x\tplace\n\nc\td\n');
  const { stdout } = await project.run(['create', 'others', '--from', 'others.txt']);
  expect(stdout).toContain('\nothers.txt: 1 row, columns: name;x, place (TSV)\n');
  expect((await project.run(['table', 'others', 'import', 'items.csv'])).stdout).toMatch(/^1 row/);
  expect(project.read('.nightshift/others/table.csv')).toBe('name;x,place\nc,d\na,b\n');
  await project.run(['archive', 'others', '--force']);

  const before = state(project);
  for (const [args, message] of [
    [['create', 'my-shift'], 'already a shift'],
    [['create', 'My Shift'], 'try my-shift'],
    [['create', '../out'], 'is not a shift name'],
    [['create', 'archive'], 'archive'],
    [['create', 'new', '--from', 'gone.csv'], 'gone.csv'],
    [['create', 'new', '--from', 'greet.md.jsonl'], 'not JSON'],
    [['create', 'new', '--agent', 'hal'], 'agents are'],
    [['add-task', 'my-shift', 'greet'], 'already has the task'],
    [['add-task', 'my-shift', 'say.hi'], 'try say_hi'],
    [['add-task', 'my-shift', 'next', '--from', 'items.csv'], '## Steps'],
    [['add-task', 'my-shift', 'place'], 'place'],
  ] as const) {
    const { code, stderr } = await project.run(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)]);
  }
  expect(state(project)).toEqual(before);
  const renamed = await project.run(['add-task', 'my-shift', 'say-hi-again', '--from', 'greet.md']);
  expect([renamed.code, renamed.stdout.split('\n')[0]]).toEqual([
    0,
    'The task is called say_hi_again: task names have underscores, because they name a column.',
  ]);
  expect(project.exists('.nightshift/my-shift/say_hi_again.md')).toBe(true);
  expect((await project.run(['add-task', 'my-shift', 'blank'])).code).toBe(0);
  expect((await project.run(['preview', 'my-shift', 'blank', '--row', '1', '--agent', 'command'])).code).toBe(0);
});

test('archive moves a finished shift away; an unfinished one only by force, a running one not at all', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('touch begun; until [ -e go ]; do sleep 0.05; done') },
  });
  const refused = await project.run(['archive', 'night']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--force')]);
  const running = shift.launch();
  await until(() => project.exists('begun'), 'the item');
  expect((await project.run(['archive', 'night', '--force'])).code).toBe(5);
  expect((await project.run(['start', 'night'])).code).toBe(5);
  project.write('go', '');
  await running.ended;
  const files = readdirSync(project.path('.nightshift/night')).sort();
  const { code, stdout } = await project.run(['archive', 'night', '--json']);
  expect(code).toBe(0);
  const { folder } = JSON.parse(stdout);
  expect(folder).toMatch(/\.nightshift\/archive\/\d{4}-\d\d-\d\d-night$/);
  expect(readdirSync(folder).sort()).toEqual(files);
  expect(project.exists('.nightshift/night')).toBe(false);
  expect(JSON.parse((await project.run(['list', '--json'])).stdout).shifts).toEqual([]);
  project.shift('night', { table: 'name,work\na,todo\n', tasks: { work: shellTask('true') } });
  const second = await project.run(['archive', 'night', '--force', '--json']);
  expect(JSON.parse(second.stdout).folder).toBe(`${folder}-2`);

  // Of two with this name, the one that was archived last comes back; then the other one by its folder.
  expect((await project.run(['__complete', 'unarchive', ''])).stdout).toBe('night\n');
  expect((await project.run(['unarchive', 'night'])).stdout).toBe(
    `night is back in ${shift.project.path('.nightshift/night')}\n`,
  );
  expect(shift.tableText).toBe('name,work\na,todo\n');
  const taken = await project.run(['unarchive', 'night']);
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('there is already a shift night')]);
  await project.run(['archive', 'night', '--force']);
  const back = JSON.parse((await project.run(['unarchive', folder.split('/').at(-1), '--json'])).stdout);
  expect(back).toEqual({ shift: 'night', folder: project.path('.nightshift/night'), from: folder });
  expect(readdirSync(back.folder).sort()).toEqual(files);
  expect((await project.run(['start', 'night'])).stdout).toContain('Already complete');
  const gone = await project.run(['unarchive', 'nihgt']);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('did you mean night?')]);
});

test('list shows every shift, also beside one with a problem', async () => {
  const project = new Project();
  night(project);
  project.shift('broken', { table: 'name\n', tasks: { work: shellTask('true') } });
  const { code, stdout } = await project.run(['list']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^broken {2}.*work/m);
  expect(stdout).toMatch(/^night {3}1\/3 completed, 1 failed$/m);
});

test('start --json: nothing but events, each stamped, with the named fields, and the journal holds the same', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true },
    table: 'name,work\na,todo\nb,todo\nc,todo\n',
    tasks: { work: agentTask() },
  });
  project.behave({
    dev: { report: { recommendations: ['Knock'] } },
    'dev:c:1': { report: { overall_status: 'FAILED (step 1)', error: 'x' } },
  });
  const { code, stdout, stderr, events } = await shift.start();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toHaveLength(events.length);
  const run = events[0].run;
  for (const [i, event] of events.entries()) {
    expect(event).toMatchObject({ type: expect.any(String), run, seq: i + 1, shift: 'night' });
    expect(new Date(event.at).toISOString()).toBe(event.at);
    if (/^(dev|qa|attempt|item):/.test(event.type)) {
      expect(event).toMatchObject({ task: 'work', index: expect.any(Number), item: expect.any(String) });
    }
    if (/^(batch|steps):/.test(event.type)) expect(event.task).toBe('work');
  }
  const first = (type: string) => events.find((event) => event.type === type);
  expect(events[0]).toMatchObject({ type: 'run:started', total: 3, tasks: ['work'], recovered: 0, waiting: 0 });
  expect(first('batch:claimed')).toMatchObject({ indices: [0, 1], size: 2 });
  expect(first('dev:started')).toMatchObject({ index: 0, agent: 'command' });
  expect(first('dev:finished')).toMatchObject({ status: 'SUCCESS', attempts: 1 });
  expect(
    events.filter(({ type, index }) => type === 'attempt:finished' && index === 2).map(({ attempt }) => attempt),
  ).toEqual([1, 2]);
  expect(first('qa:started')).toMatchObject({ index: 0 });
  expect(first('qa:finished')).toMatchObject({ index: 0, status: 'PASS' });
  expect(first('steps:changed')).toMatchObject({
    batch: 1,
    lessons: [{ text: 'Knock', rows: [1, 2], attempts: [1, 1] }],
  });
  expect(first('batch:finished')).toMatchObject({
    from: 2,
    to: 4,
    reason: 'all 2 done',
    done: 2,
    failed: 0,
    returned: 0,
  });
  expect(first('progress')).toMatchObject({ done: 2, total: 3, compacted: false });
  expect(events.at(-1)).toMatchObject({
    type: 'run:finished',
    exitCode: 0,
    total: 3,
    completed: 3,
    failed: 0,
    remaining: 0,
  });
  expect(shift.journal()).toEqual(events);
});

test('X8 no warning of Node gets to a user: not of a crowd that shares signals, nor of a timeout of centuries, nor of any other cause', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: {
      agent: 'shell',
      parallel: true,
      'current-batch-size': 15,
      timeout: '2000000h',
      'check-timeout': '2000000h',
    },
    table: `name,work\n${Array.from({ length: 15 }, (_, i) => `n${i},todo\n`).join('')}`,
    // All at once: Node warns of more than ten listeners.
    tasks: { work: shellTask('touch here-{name}; until [ "$(ls | grep -c here-)" -ge 15 ]; do sleep 0.05; done') },
  });
  // Node tells all that it has to tell when it is asked to trace it.
  const traced = await shift.spawn([], { env: { NODE_OPTIONS: '--trace-warnings' } }).ended;
  expect([traced.code, traced.stderr]).toEqual([0, '']);
  // When the program has begun, which listens for what nobody catches.
  const warn = `const timer = setInterval(() => {
    if (process.listenerCount('uncaughtException') === 0) return;
    clearInterval(timer);
    process.emitWarning('x', 'DeprecationWarning');
    require('node:fs').writeFileSync('warned', '');
  }, 1);`;
  project.write('warn.cjs', warn);
  const NODE_OPTIONS = `--require ${project.path('warn.cjs')}`;
  const { stderr } = await project.spawn(['status'], { env: { NODE_OPTIONS } }).ended;
  expect([project.exists('warned'), stderr]).toEqual([true, '']);
});
