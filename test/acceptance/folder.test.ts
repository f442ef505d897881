import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Gate } from '../gate.ts';
import { agentTask, Project, type Running, type ShiftHandle, shellTask, until } from '../harness.ts';

const run = promisify(execFile);

/** Every file below a folder with its bytes, the lock and `.git` left out. */
function tree(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.lock') || name.startsWith('.git/')) continue;
    const file = join(folder, name);
    files[name] = statSync(file).isFile() ? readFileSync(file, 'latin1') : '';
  }
  return files;
}

const TABLE = 'name,work\na,todo\nb,todo\n';

describe('F1 names', () => {
  test('F1 a name that is not kebab-case or snake_case is refused with the rule and a name that passes', async () => {
    const project = new Project();
    await project.run(['init']);
    const before = tree(project.root);
    for (const [name, better] of [
      ['My Shift', 'my-shift'],
      ['under_score', 'under-score'],
      ['double--hyphen', 'double-hyphen'],
      ['-edge-', 'edge'],
      ['Übergröße', 'ubergro-e'],
    ] as const) {
      const ended = await project.run(['create', '--', name]);
      expect([name, ended.code]).toEqual([name, 2]);
      expect(ended.stderr).toContain('kebab-case: lower-case letters, digits and single hyphens');
      expect(ended.stderr).toContain(`try ${better}`);
    }
    expect(tree(project.root)).toEqual(before);
    expect(await project.run(['create', 'my-shift'])).toMatchObject({ code: 0 });
    const created = tree(project.root);
    for (const [name, better] of [
      ['create.page', 'create_page'],
      ['2nd', 'task_2nd'],
      ['_x', 'x'],
    ] as const) {
      const ended = await project.run(['add-task', 'my-shift', name]);
      expect([name, ended.code]).toEqual([name, 2]);
      expect(ended.stderr).toContain('snake_case');
      expect(ended.stderr).toContain(`try ${better}`);
    }
    expect(tree(project.root)).toEqual(created);
    expect(await project.run(['add-task', 'my-shift', 'create_page'])).toMatchObject({ code: 0 });
  });

  test('F1 no name leads outside of its folder', async () => {
    const project = new Project();
    const shift = project.shift('night', {
      settings: { agent: 'shell' },
      table: TABLE,
      tasks: { work: shellTask('true') },
    });
    project.write('outside/manager.md', shift.manager.replace('name: night', 'name: outside'));
    project.write('outside/table.csv', TABLE);
    project.write('outside/work.md', shift.task('work'));
    symlinkSync(project.path('outside'), project.path('.nightshift/linked'));
    const before = tree(project.root);
    for (const name of [
      '../outside',
      '..',
      '.',
      '/tmp',
      'night/../../outside',
      'archive',
      'a'.repeat(4096),
      'linked',
    ]) {
      const commands = [
        ['start', name],
        ['table', name, 'add', 'name=x'],
        ['archive', name, '--force'],
      ];
      const codes = await Promise.all(commands.map(async (args) => (await project.run(args)).code));
      expect([name, ...codes]).toEqual([name, 2, 2, 2]);
    }
    for (const name of ['../../../outside/evil', '../evil', '/tmp/evil', 'work/../evil']) {
      expect(await project.run(['add-task', 'night', name])).toMatchObject({ code: 2 });
      expect(await project.run(['preview', 'night', name, '--row', '1'])).toMatchObject({ code: 2 });
    }
    expect(tree(project.root)).toEqual(before);
    shift.manager = shift.manager.replace('1. work', '1. ../night/work');
    const ended = await project.run(['start', 'night']);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(/snake_case[\s\S]*manager\.md:\d+/);
  }, 120_000);
});

test('F2 the manifest: settings, comments, unknown keys, Task Order, Progress', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,first,second\na,todo,todo\nb,todo,todo\nc,done,failed\nd,done,todo\n',
    tasks: { first: shellTask('test {name} != b'), second: shellTask('true') },
  });
  shift.manager = `# A night

Prose that means nothing: - parallel: true

## Shift Configuration

- name: night
- created: 2026-01-02
- agent: shell
<!-- - parallel: true
- agent: command -->
- # parallel: true
- paralel: true
- my-own-key: kept

## Notes

- agent: nobody

## Task Order

1. first
<!-- 2. never_written -->
2. second

## Progress

- Total items: 99
- Completed: 99
- Failed: 99
- Remaining: 99

## After
`;
  const before = shift.manager;
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(events.find(({ type }) => type === 'run:started')).toMatchObject({
    parallel: false,
    agent: 'shell',
    tasks: ['first', 'second'],
  });
  const warnings = events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
  expect(warnings.filter((message) => message.includes('`paralel`'))).toEqual([
    expect.stringContaining('did you mean `parallel`?'),
  ]);
  expect(warnings.filter((message) => message.includes('`my-own-key`'))).toHaveLength(1);
  expect(warnings).toHaveLength(2);
  // a is complete, b and c have a failed task, d was completed.
  const counted = before
    .replace('Total items: 99', 'Total items: 4')
    .replace('Completed: 99', 'Completed: 2')
    .replace('Failed: 99', 'Failed: 2')
    .replace('Remaining: 99', 'Remaining: 0');
  expect(shift.manager).toBe(counted);
});

test('F3 RFC 4180; the Task Order decides which columns are statuses', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table:
      '"name",row,state,work,"a ""quoted"" one"\r\n"x, y",7,finished,todo,"two\r\nlines"\r\nplain,8,done,"todo","say ""hi"""\r\n',
    tasks: { work: agentTask('1. Do {name} in {row}', '- {name} is done') },
  });
  expect(await shift.start()).toMatchObject({ code: 0 });
  const items = project
    .calls()
    .filter((call) => call.role === 'dev' && !call.ended)
    .map(({ env }) => JSON.parse(env.NIGHTSHIFT_ITEM));
  expect(items).toEqual([
    { name: 'x, y', row: '7', state: 'finished', 'a "quoted" one': 'two\r\nlines' },
    { name: 'plain', row: '8', state: 'done', 'a "quoted" one': 'say "hi"' },
  ]);
  expect(project.calls()[0].prompt).toContain('Do x, y in 7');
  expect(shift.tableText).toBe(
    '"name",row,state,work,"a ""quoted"" one"\r\n"x, y",7,finished,done,"two\r\nlines"\r\nplain,8,done,"done","say ""hi"""\r\n',
  );
  shift.tableText = '';
  const ended = await project.run(['start', 'night']);
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/header[\s\S]*table\.csv/) });
});

test('F4 a task file without its three sections in order, or with an empty one, is an error that names it', async () => {
  const project = new Project();
  const whole = agentTask();
  const shift = project.shift('night', { table: TABLE, tasks: { work: whole } });
  const cases: [string, string][] = [
    [whole.replace('## Configuration', '## Settings'), 'Configuration'],
    [whole.replace('## Steps', 'Steps'), 'Steps'],
    [whole.replace('## Validation', '### Validation'), 'Validation'],
    [whole.replace('1. Do {name}', ''), 'Steps'],
    [whole.replace('- {name} is done', 'It is done.'), 'Validation'],
    ['## Configuration\n\n## Validation\n\n- v\n\n## Steps\n\n1. s\n', 'Validation'],
  ];
  for (const [text, section] of cases) {
    project.write(`${shift.folder}/work.md`, text);
    const before = tree(project.root);
    const ended = await project.run(['start', 'night']);
    expect([text, ended.code]).toEqual([text, 2]);
    expect(ended.stderr).toMatch(new RegExp(`## ${section}[\\s\\S]*work\\.md`));
    expect(tree(project.root)).toEqual(before);
  }
});

test('F5 an edit changes only its own bytes', async () => {
  const project = new Project();
  const table = '\uFEFFwork,"name",note\r\n"todo",a,"o""d"\r\ntodo,  b,\r\ntodo,"c","last, without a line end"';
  const shift = project.shift('night', { table, tasks: { work: '' } });
  const manager = [
    '\uFEFFFree text first\r\n\r\n## Shift Configuration\r\n<!-- a note -->\r\n*   agent:   command   \r\n',
    '- name: "night"\r\n-  parallel: true\r\n\r\n##   Mine\r\n\r\n| a | b |\r\n\r\n## Task Order ##\r\n7) work\r\n\r\n',
    '## Progress\r\n*  Total items : 0 \r\n*  Failed: 0\r\nlast line without an end',
  ].join('');
  shift.manager = manager;
  const work = agentTask('5.  Do it\r\n\r\n    <!-- why -->\r\n', '* it is done\r\n\r\n## Mine\r\n\r\nend').trimEnd();
  project.write(`${shift.folder}/work.md`, work);
  const { code, stderr } = await shift.start();
  expect([code, stderr]).toEqual([0, '']);
  const done = table.replaceAll('todo', 'done');
  expect(shift.tableText).toBe(done);
  expect(shift.task('work')).toBe(work);
  const others = (text: string) =>
    text.split('\r\n').filter((line) => !/Total|Completed|Failed|Remaining|batch-size/.test(line));
  expect(others(shift.manager)).toEqual(others(manager));
  expect(shift.manager).toContain('*  Total items : 3 \r\n');
  expect(shift.manager).toContain('current-batch-size: 8\r\n');
  expect(shift.manager).not.toMatch(/[^\r]\n/);
  await project.run(['table', 'night', 'edit', 'note', '1', 'now, quoted']);
  expect(shift.tableText).toBe(done.replace('  b,\r\n', '  b,"now, quoted"\r\n'));
});

describe('F6 what does not fit together', () => {
  test('F6 before anything runs: an error with file, line and what to do; nothing is written', async () => {
    const project = new Project();
    const shift = project.shift('night', {
      settings: { agent: 'shell' },
      table: TABLE,
      tasks: { work: shellTask('touch ran') },
    });
    const { manager } = shift;
    const cases: { table?: string; manager?: string; says: RegExp }[] = [
      {
        manager: manager.replace('1. work', '1. work\n2. missing'),
        says: /missing\.md[\s\S]*manager\.md:12[\s\S]*add-task/,
      },
      { table: 'name\na\n', says: /no column work[\s\S]*table\.csv:1[\s\S]*add the column/ },
      { table: 'name,work,name\na,todo,b\n', says: /"?name"?[\s\S]*table\.csv:1\n +\S/ },
      { table: 'name,work\na,todo\nb,todo,more\n', says: /table\.csv:3\n +\S/ },
      { table: 'name,work\na,todo\nb\n', says: /table\.csv:3\n +\S/ },
      {
        table: 'name,work\na,todo\nb,Todo\n',
        says: /unknown status "Todo"[\s\S]*table\.csv:3[\s\S]*write it as "todo"/,
      },
    ];
    for (const each of cases) {
      shift.tableText = each.table ?? TABLE;
      shift.manager = each.manager ?? manager;
      const before = tree(project.root);
      const ended = await project.run(['start', 'night']);
      expect([each.says, ended.code]).toEqual([each.says, 2]);
      expect(ended.stderr).toMatch(each.says);
      expect(tree(project.root)).toEqual(before);
    }
  });

  interface Between {
    project: Project;
    shift: ShiftHandle;
    running: Running;
    gate: Gate;
  }

  /** A run whose first batch is judged, the last of it being held up until the gate is open. */
  async function betweenBatches(settings = {}): Promise<Between> {
    const project = new Project();
    const gate = new Gate(project);
    const shift = project.shift('night', {
      settings: { parallel: true, 'disable-self-improvement': true, ...settings },
      table: 'name,work\na,todo\nb,todo\nc,todo\nd,todo\n',
      tasks: { work: agentTask() },
    });
    project.behave({ 'qa:b': { sh: gate.wait } });
    const running = shift.launch();
    await until(() => project.calls().some((call) => call.role === 'qa' && call.name === 'b'), 'the qa of b');
    return { project, shift, running, gate };
  }
  const devs = (project: Project) =>
    project
      .calls()
      .filter((call) => call.role === 'dev' && !call.ended)
      .map(({ name }) => name)
      .sort()
      .join('');

  test('F6 between batches it is read again, and said what is wrong: repaired in time, the run goes on', async () => {
    const { project, shift, running, gate } = await betweenBatches();
    shift.manager = shift.manager.replace('1. work', '1. work\n2. not_yet_saved');
    gate.open();
    const { message } = await running.seen('run:warning');
    expect(message).toMatch(
      /not_yet_saved.* \(manager\.md:\d+\); .*; nothing new is started .*; after 15m the run ends$/,
    );
    expect([devs(project), shift.column('work')]).toEqual(['ab', ['done', 'done', 'todo', 'todo']]);
    shift.manager = shift.manager.replace('\n2. not_yet_saved', '');
    await running.seen('batch:claimed', ({ indices }) => indices.includes(2));
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
    expect(devs(project)).toBe('abcd');
  });

  test('F6 a manager.md that is half saved when a batch ends is read again, and its Progress and size written then', async () => {
    const { shift, running, gate } = await betweenBatches();
    const whole = shift.manager;
    const half = whole.slice(0, whole.indexOf('## Task Order'));
    shift.manager = half;
    gate.open();
    await running.seen('item:recorded', ({ index, to }) => index === 1 && to === 'done');
    await running.seen('run:warning');
    expect(shift.manager).toBe(half);
    shift.manager = whole;
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
    const written = whole
      .replace(/- Total items: 0\n- Completed: 0/, '- Total items: 4\n- Completed: 4')
      .replace('- parallel: true', '- parallel: true\n- current-batch-size: 8');
    expect(shift.manager.split('\n').sort()).toEqual(written.split('\n').sort());
  });

  test('F6 a table that is half saved is read again, and can be repaired by whoever takes the lock', async () => {
    const { project, shift, running, gate } = await betweenBatches();
    const [table, lock] = ['table.csv', 'table.csv.lock'].map((name) => project.path(shift.folder, name));
    const whole = shift.tableText;
    shift.tableText = `${whole}e,about e,todo,too much\n`;
    gate.open();
    await running.seen('run:warning');
    project.write('repaired.csv', `${whole}e,todo\n`);
    await run('flock', ['-x', '-w', '8', lock!, 'cp', project.path('repaired.csv'), table!]);
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
    expect([devs(project), shift.column('work')]).toEqual(['abcde', Array(5).fill('done')]);
  });

  test('F6 not repaired for as long as the shift is patient, the run ends with exit code 2 and nothing claimed', async () => {
    const patience = { patience: '1s' };
    const [manifest, table] = await Promise.all([betweenBatches(patience), betweenBatches(patience)]);
    manifest.shift.manager = manifest.shift.manager.replace('1. work', '1. work\n2. missing');
    const broken = `${table.shift.tableText}e,todo,too much\n`;
    table.shift.tableText = broken;
    for (const { gate } of [manifest, table]) gate.open();
    const first = await manifest.running.ended;
    expect(first).toMatchObject({ code: 2, stderr: expect.stringMatching(/missing\.md[\s\S]*manager\.md:\d+/) });
    expect([devs(manifest.project), manifest.shift.column('work')]).toEqual(['ab', ['done', 'done', 'todo', 'todo']]);
    const second = await table.running.ended;
    expect(second).toMatchObject({ code: 2, stderr: expect.stringMatching(/table\.csv\.put-back-\w+-\d+-\w+:6/) });
    expect([devs(table.project), table.shift.column('work')]).toEqual(['ab', ['done', 'done', 'todo', 'todo']]);
    // Those who look later are told, too; with counts where there is a table to count in.
    const [early, late] = [first, second].map(({ events }) => events.at(-2));
    expect(early).toMatchObject({
      ...{ type: 'run:finished', exitCode: 2, error: 'bad-manager', completed: 2, remaining: 2 },
      reason: expect.stringMatching(/missing\.md \(.*manager\.md line \d+\); `nightshift add-task night missing` /),
    });
    expect(late).toMatchObject({
      ...{ type: 'run:finished', exitCode: 2, error: 'bad-table', completed: 2, remaining: 2 },
      reason: expect.stringMatching(
        /\.put-back-\S+ line 6\); .*; table\.csv was restored to its last readable version/,
      ),
    });
    expect(table.shift.journal().at(-1)).toEqual(late);
    manifest.shift.manager = manifest.shift.manager.replace('\n2. missing', '');
    const { stdout } = await manifest.project.run(['status', 'night']);
    expect(stdout).toMatch(/^the last run ended \d\d:\d\d by an error, with exit code 2: /m);
    expect(stdout).toContain(`${early.reason}\n`);
    expect(stdout).toContain('not running: `nightshift start night` continues\n');
    // What was in flight is neither lost nor done again, nor what somebody wrote.
    table.shift.tableText = broken.replace(',too much', '');
    expect(await table.shift.start()).toMatchObject({ code: 0 });
    expect(devs(table.project)).toBe('abcde');
  });
});

test('F7 .env is dotenv format, ignored by git from the first moment, and never printed', async () => {
  const project = new Project();
  await run('git', ['init', '-q', project.root]);
  project.write('items.csv', 'name\na\n');
  await project.run(['create', 'night', '--from', 'items.csv', '--agent', 'command']);
  project.write('task.md', agentTask('1. Do {name} with {ENV:PLAIN} and {ENV:SPACED}'));
  await project.run(['add-task', 'night', 'work', '--from', 'task.md']);
  project.write(
    '.nightshift/night/.env',
    '# a comment\nPLAIN=plain-secret-1 # behind it\nexport EXPORTED=exported-secret-2\nSPACED="two words secret-3"\nSINGLE=\'$not {expanded} secret-4\'\n\nMANY="line-secret-5\nsecond-secret-6"\nEMPTY=\n',
  );
  const secrets = [
    'plain-secret-1',
    'exported-secret-2',
    'two words secret-3',
    '$not {expanded} secret-4',
    'line-secret-5',
  ];
  await run('git', ['-C', project.root, 'add', '-A']);
  const tracked = (await run('git', ['-C', project.root, 'ls-files'])).stdout.split('\n');
  expect(tracked).toContain('.nightshift/night/table.csv');
  expect(tracked).toContain('.nightshift/.gitignore');
  expect(tracked.filter((name) => /\.env|\.lock|\.engine/.test(name))).toEqual([]);
  project.behave({ '*': { sh: 'echo "$PLAIN $EXPORTED $SPACED $SINGLE $MANY" >&2', stdout: 'plain-secret-1\n' } });
  const printed = [
    await project.run(['preview', 'night', 'work', '--row', '1']),
    await project.run(['start', 'night']),
    await project.run(['start', 'night', '--json']),
    await project.run(['status', 'night']),
    await project.run(['show', 'night', '1']),
    await project.run(['table', 'night', 'show']),
  ];
  expect(printed.map(({ code }) => code)).toEqual(Array(6).fill(0));
  const { env, prompt } = project.calls()[0];
  expect(env).toMatchObject({
    PLAIN: 'plain-secret-1',
    EXPORTED: 'exported-secret-2',
    SPACED: 'two words secret-3',
    SINGLE: '$not {expanded} secret-4',
    MANY: 'line-secret-5\nsecond-secret-6',
    EMPTY: '',
  });
  expect(prompt).toContain('Do a with plain-secret-1 and two words secret-3');
  const written = Object.entries(tree(project.path('.nightshift'))).filter(
    ([name]) => !/\.env$|calls\.jsonl$/.test(name),
  );
  for (const text of [
    ...printed.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ...written.map(([, bytes]) => bytes),
  ]) {
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
  project.write('.nightshift/night/.env', 'PLAIN=ok\nnot a line with s3cret\n');
  const bad = await project.run(['start', 'night']);
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringMatching(/\.env:2/) });
  expect(bad.stderr).not.toContain('s3cret');
  await run('git', ['-C', project.root, 'add', '-A']);
  const after = (await run('git', ['-C', project.root, 'ls-files'])).stdout.split('\n');
  expect(after.filter((name) => /\.env|\.lock|\.engine/.test(name))).toEqual([]);
});
