import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AGENT, Project, ShiftHandle, until } from '../harness.ts';

/** Its lines before those of `start`. */
const firstLines = (stdout: string) => stdout.split('\n').slice(0, 3);

/** For the scripted agent: the item's value in a column. */
const value = (column: string) => `$(printf %s "$NIGHTSHIFT_ITEM" | sed 's/.*"${column}":"\\([^"]*\\)".*/\\1/')`;

describe('F3 nightshift each', () => {
  test('F3 each: a table, a sentence and a check make an ordinary shift that runs', async () => {
    const project = new Project();
    project.write('modules.csv', 'path;size\nsrc/a.ts;1\n\nsrc/b b.ts;2\n');
    project.behave({ dev: { sh: `mkdir -p src; echo test > "${value('path')}.test"` } });
    const line = [
      ...['each', 'modules.csv', '--do', 'Write tests for {path}', '--check', 'test -s "{path}.test"'],
      ...['--agent', 'command', '--command', AGENT, '--max-cost', '5', '--parallel', '2'],
    ];

    const dry = await project.run([...line, '--dry-run']);
    expect([dry.code, dry.stdout.split('\n').length]).toEqual([0, 5]);
    expect(project.exists('.nightshift')).toBe(false);

    const { code, stdout, stderr } = await project.run(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(firstLines(stdout)).toEqual([
      '.nightshift/modules: a new shift with manager.md, table.csv and do.md',
      '2 rows (path, size); 1 check',
      'agent command, up to 2 rows at a time; it may spend $5.00',
    ]);
    expect(firstLines(dry.stdout)).toEqual(firstLines(stdout));
    const shift = new ShiftHandle(project, 'modules');
    expect(shift.tableText).toBe('path,size,do\nsrc/a.ts,1,done\nsrc/b b.ts,2,done\n');
    expect(shift.manager).toMatch(
      /- parallel: true\n- dispatch: stream\n- current-batch-size: 2\n- max-batch-size: 2\n/,
    );
    // The checks are the verdict: no qa is asked.
    const begun = project.calls().filter(({ ended }) => !ended);
    expect(begun.map(({ role }) => role)).toEqual(['dev', 'dev']);
    expect(begun.find(({ index }) => index === '0').prompt).toContain('1. Write tests for src/a.ts\n');

    const again = await project.run(line);
    expect([again.code, firstLines(again.stdout)[0]]).toEqual([0, '.nightshift/modules: resumed']);
    expect(again.stdout).toContain('Already complete');
    expect(project.calls().filter(({ ended }) => !ended)).toHaveLength(2);
  });

  test('F3 each: piped JSON without a check: a qa judges what was asked, and outputs become columns', async () => {
    const project = new Project();
    project.behave({ dev: { outputs: { label: 'bug' } } });
    const line = ['each', '-', '--do', 'Triage issue {number}: {title}', '--out', 'label'];
    const agent = ['--agent', 'command', '--command', AGENT];
    const input = '[{"number":7,"title":"It \\"crashes\\"","labels":[]},\n {"number":8,"title":"Slow"}]';
    const { code, stdout } = await project.run([...line, ...agent], { input });
    expect([code, firstLines(stdout)[1]]).toEqual([0, '2 rows (number, title, labels); a qa judges each; fills label']);
    const shift = new ShiftHandle(project, 'items');
    expect(shift.rows()).toEqual([
      { number: '7', title: 'It "crashes"', labels: '[]', do: 'done', label: 'bug' },
      { number: '8', title: 'Slow', labels: '', do: 'done', label: 'bug' },
    ]);
    const [judged] = project.calls().filter(({ role, ended }) => role === 'qa' && !ended);
    expect(judged.prompt).toContain(
      'It was done as asked\n\n  The request: Triage issue 7: It "crashes"\n\n  The reported "label": bug\n',
    );

    const other = ['--name', 'other', '--check', 'test {label} = feature', '--max-failures', '1'];
    const refused = await project.run([...line, ...agent, ...other], { input });
    expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining('`test bug = feature`: exit code 1')]);

    // Closed issues are gone and a new one is there: done rows stay, the new one is added and done.
    const later = '{"title":"Typo","number":9}\n{"number":8,"title":"Slow","labels":null}\n';
    const more = await project.run(line, { input: later });
    expect([more.code, firstLines(more.stdout)[1]]).toEqual([0, expect.stringMatching(/^3 rows, 1 of them new /)]);
    expect(shift.column('number')).toEqual(['7', '8', '9']);
    expect(shift.column('do')).toEqual(['done', 'done', 'done']);
    expect(project.calls().filter(({ role, ended }) => role === 'dev' && !ended)).toHaveLength(2 + 3 + 1);
  });

  test('F3 each: a pattern, from a folder of the project; agents and checks work where you are', async () => {
    const project = new Project();
    await project.run(['init']);
    for (const file of ['a.md', 'sub/b.md', '.hidden/c.md', 'node_modules/d.md']) project.write(`docs/${file}`, 'text');
    const cwd = project.path('docs');
    const line = ['each', '--glob', '**/*.{md,mdx}', '--do', 'tr a-z A-Z < {path} > {path}.de.md', '--agent', 'shell'];
    const check = ['--check', 'test "$(cat "{path}.de.md")" = TEXT'];
    const { code, stdout } = await project.run([...line, ...check], { cwd });
    expect([code, firstLines(stdout)[0]]).toEqual([0, expect.stringMatching(/^\.\.\/\.nightshift\/md-mdx: /)]);
    expect(new ShiftHandle(project, 'md-mdx').column('path')).toEqual(['a.md', 'sub/b.md']);
    expect(project.read('docs/sub/b.md.de.md')).toBe('TEXT');
    // The pattern matches the results, too.
    const again = await project.run([...line, ...check], { cwd });
    expect(firstLines(again.stdout)[1]).toBe('2 rows (path); 2 files left out: results of other rows; 1 check');
    const elsewhere = await project.run([...line, ...check]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringMatching(/works in docs, but you are in \./)]);
  });
});

test('V2 each: what can not work is refused before anything is written', async () => {
  const project = new Project();
  project.write('pages.csv', 'path,title\na,A\n');
  project.write('do.csv', 'do,x\n1,2\n');
  project.write('none.csv', 'path\n');
  project.write('page.csv', '{"a":1}\n');
  const each = (...args: string[]) => ['each', ...args, '--agent', 'shell'];
  for (const [args, message] of [
    [
      each('pages.csv', '--do', 'cat {pth}'),
      /\{pth\}.*no such column\n.*--do:1\n.*did you mean \{path\}\?.*columns are: path, title/,
    ],
    [
      each('pages.csv', '--do', 'x', '--check', 'true\ncat {nam}'),
      /\{nam\}.*\n.*--check:2\n.*columns are: path, title/,
    ],
    [each('pages.csv', '--do', 'x', '--check', 'sh -c "{path}"'), /can't stand here/],
    [each('pages.csv', '--do', ' '), /--do is empty/],
    [each('pages.csv', '--do', 'x', '--out', 'title'), /would be overwritten/],
    [each('pages.csv', '--do', 'x', '--out', 'do'), /holds the statuses/],
    [each('pages.csv', '--do', 'x', '--out', 'a,b'), /can't have a comma/],
    [each('pages.csv', '--do', 'x', '--parallel', '0'), /--parallel "0"/],
    [each('pages.csv', '--do', 'x', '--max-cost', 'five'), /--max-cost "five"/],
    [each('pages.csv', '--do', 'x', '--name', 'My Shift'), /try my-shift/],
    [each('pages.csv', '--do', 'x', '--command', 'y'), /--command is not for the agent shell/],
    [each('pages.csv', '--do', 'x', '--model', 'm\n- max-cost: none'), /`model` can't have this value/],
    [each('pages.csv', '--do', 'x', '--rows', '2'), /there is no row "2"/],
    [each('pages.csv', '--do', 'x', '--where', 'path=b'), /no row has path=b/],
    [each('pages.csv', '--do', 'x', '--where', 'pth=a'), /no column "pth"\n.*did you mean path\?/],
    [each('pages.csv', '--do', 'x', '--sample', 'some'), /--sample "some"/],
    [each('pages.csv', 'do.csv', '--do', 'x'), /several files are given: pages.csv, do.csv/],
    [each('pages.csv', '--glob', 'do.csv', '--do', 'x'), /both --glob and pages.csv.*\n.*needs quotes/],
    [each('do.csv', '--do', 'x'), /the items have a column "do"/],
    [each('none.csv', '--do', 'x'), /none.csv has no rows\n.*each line below it is an item/],
    [each('.', '--do', 'x'), /is a folder, not a table\n.*--glob '\.\/\*'/],
    [each('*.csv', '--do', 'x'), /there is no file \*\.csv\n.*--glob '\*\.csv'/],
    [each('page.csv', '--do', 'x'), /this is JSON lines, not CSV/],
    [each('--glob', '*.txt', '--do', 'x'), /no file matches \*\.txt/],
    [each('-', '--do', 'x'), /standard input is a terminal/],
    [each('--do', 'x'), /no items are given/],
    [['each', 'pages.csv', '--do', 'x', '--agent', 'hal'], /there is no agent "hal"/],
    [['each', 'pages.csv', '--do', 'x', '--agent', 'command'], /--agent command needs a program/],
  ] as const) {
    for (const line of [args, [...args, '--dry-run']]) {
      const { code, stderr } = await project.run(line);
      expect([line, code, stderr]).toEqual([line, 2, expect.stringMatching(message)]);
    }
  }
  const missing = await project.run(['each', 'pages.csv', '--do', 'x', '--agent', 'claude'], {
    env: { PATH: '/none' },
  });
  expect([missing.code, missing.stderr]).toEqual([6, expect.stringMatching(/agent claude can't be started; --agent/)]);
  const byDefault = await project.run(['each', 'pages.csv', '--do', 'x'], { env: { PATH: '/none' } });
  expect([byDefault.code, byDefault.stderr]).toEqual([
    6,
    expect.stringMatching(/^error: the agent opencode can't be started; --agent chooses .*\n.*opencode-ai/),
  ]);
  expect(byDefault.stderr).not.toContain('agent: NAME');
  for (const [input, message] of [
    ['[', /the array is never closed\n +at standard input:1\n +add \] at its end/],
    ['null\n', /this is JSON, but it is null, not a list of items\n +at standard input:1\n +JSON items are an array/],
  ] as const) {
    const piped = await project.run(each('-', '--do', 'x'), { input });
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  expect(project.exists('.nightshift')).toBe(false);
});

test('T7 each: another request is applied until a row is done, and refused then; other shifts are left alone', async () => {
  const project = new Project();
  project.write('pages.csv', 'path\na\nb\na\n');
  const each = (text: string, ...more: string[]) =>
    project.run(['each', 'pages.csv', '--do', text, '--agent', 'shell', ...more]);
  expect((await each('exit 1', '--rows', '1')).code).toBe(3);
  const all = ['each', 'pages.csv', '--name', 'all', '--agent', 'shell', '--do'];
  expect((await project.run([...all, 'exit 1'])).code).toBe(3);
  const changed = await project.run([...all, 'exit 0']);
  expect([changed.code, firstLines(changed.stdout)[0]]).toEqual([
    3,
    expect.stringMatching(/do\.md was replaced, .*; `nightshift retry all` uses it for the 3 failed rows$/),
  ]);
  expect((await project.run(['retry', 'all'])).code).toBe(0);
  const fixed = await each('echo "{path} $NIGHTSHIFT_ROW" >> out', '--rows', '2');
  expect([fixed.code, firstLines(fixed.stdout)[0]]).toEqual([0, expect.stringContaining('do.md was replaced')]);
  const shift = new ShiftHandle(project, 'pages');
  expect([shift.column('do'), project.read('out')]).toEqual([['failed', 'done', 'todo'], 'b 2\n']);

  const other = await each('rm {path}');
  expect([other.code, other.stderr]).toEqual([2, expect.stringMatching(/rows are done already \(1\)\n.*--name makes/)]);
  project.write('pages.csv', 'path\na\na\na\nb\n');
  const none = await each('echo "{path} $NIGHTSHIFT_ROW" >> out', '--rows', '5');
  expect([none.code, none.stderr, shift.column('path')]).toEqual([
    2,
    expect.stringContaining('1 to 4'),
    ['a', 'b', 'a'],
  ]);
  expect((await each('echo "{path} $NIGHTSHIFT_ROW" >> out')).code).toBe(3);
  // Of the equal rows, one is new.
  expect(shift.column('path')).toEqual(['a', 'b', 'a', 'a']);
  expect(project.read('out')).toBe('b 2\na 3\na 4\n');

  project.shift('mine', { table: 'path,do\na,todo\n', tasks: { do: shift.task('do').replace(/<!--.*-->/, '') } });
  const foreign = await each('x', '--name', 'mine');
  expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('did not make')]);
});

test('T6 each: a second call during the run fails as `start` does, and adds nothing; interrupted, the same line resumes', async () => {
  const project = new Project();
  project.write('pages.csv', 'path\na\nb\n');
  const line = [
    'each',
    'pages.csv',
    '--agent',
    'shell',
    '--do',
    'touch begun-{path}; until [ -e go ]; do sleep 0.05; done',
  ];
  const first = project.spawn(line);
  await until(() => project.exists('begun-a'), 'the first row');
  project.write('pages.csv', 'path\na\nb\nc\n');
  const second = await project.run(line);
  expect([second.code, second.stderr]).toEqual([5, expect.stringMatching(/pages is already being run by process/)]);
  first.kill('SIGINT');
  await until(() => first.stdout.includes('Ctrl-C again'), 'the drain');
  first.kill('SIGINT');
  expect((await first.ended).code).toBe(130);
  project.write('go', '');
  const { code, stdout } = await project.run(line);
  expect([code, firstLines(stdout)[1]]).toEqual([0, '3 rows, 1 of them new (path); no check']);
  expect(new ShiftHandle(project, 'pages').column('do')).toEqual(['done', 'done', 'done']);
});

test('X6 each: with a model and without a limit, it asks as `start` does, and starts nothing without an answer', async () => {
  const project = new Project();
  project.write('bin/claude', '#!/bin/sh\necho "$@" >> called\nexit 1\n');
  chmodSync(project.path('bin/claude'), 0o755);
  project.write('pages.csv', 'path\na\n');
  const line = ['each', 'pages.csv', '--do', 'Read {path}', '--agent', 'claude'];
  const env = { PATH: `${project.path('bin')}:${process.env.PATH}` };
  const { code, stdout, stderr } = await project.run(line, { env, answers: [] });
  expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was started: no limit was set')]);
  expect(firstLines(stdout)[2]).toBe('agent claude, one row at a time; no limit on cost');
  expect(stdout).toContain('How much may it cost');
  expect(new ShiftHandle(project, 'pages').column('do')).toEqual(['todo']);
  // It was asked whether you are logged in, and got no prompt.
  expect(new Set(project.read('called').trim().split('\n'))).toEqual(new Set(['auth status']));
});
