import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shellTask, until } from '../harness.ts';
import { listing } from '../listing.ts';
import { check, expectOneError, type Mistake, rightProject, setManager, setTable } from '../mistakes.ts';

describe('the command line', () => {
  const usage = (args: readonly string[], says: RegExp, advises: RegExp): Mistake => ({ args, says, advises, at: '' });
  check({
    'an unknown command': usage(['strat'], /unknown command 'strat'/, /did you mean start\?/),
    'a command by another name': usage(['run', 'pages'], /unknown command 'run'/, /did you mean `start`\?/),
    'a command that others have': usage(['new', 'pages'], /unknown command 'new'/, /did you mean `create`\?/),
    'a verb of the table': usage(['reset', 'pages'], /unknown command 'reset'/, /did you mean `table reset`\?/),
    'an unknown flag': usage(['start', '--rowz', '3'], /unknown option '--rowz'/, /--rows/),
    'a flag without its value': usage(['start', 'pages', '--rows'], /--rows/, /--help/),
    'an argument too many': usage(['start', 'pages', 'now'], /too many arguments/, /--help/),
    'an argument too few': usage(['add-task', 'pages'], /argument 'task'/, /^ +`nightshift add-task --help` shows/),
    'a row that is missing': usage(['preview', 'pages', 'make_page'], /--row/, /^ +`nightshift preview --help` shows/),
    'nothing to do with each': usage(['each', 'a.csv'], /'--do <text>'/, /^ +`nightshift each --help` shows/),
    'prompts of no row': usage(['logs', 'pages', '--prompts'], /--prompts is only for --row/, /add --row N/),
    'rows backwards': usage(['start', 'pages', '--rows', '10:3'], /"10:3" is not a range of rows/, /3:10/),
    'row 0': usage(['start', 'pages', '--rows', '0'], /"0" is not a range/, /the first row is 1/),
    'rows in words': usage(
      ['start', 'pages', '--rows', 'all'],
      /"all" is not a range/,
      /3, 3:10, 3:, :10 or 3,7,12:20/,
    ),
    'rows behind the last': usage(['start', 'pages', '--rows', '7:9'], /no row .*7/, /rows are 1 to 2/),
    'a row behind the last': usage(['preview', 'pages', 'make_page', '--row', '3'], /no row "3"/, /rows are 1 to 2/),
    'a row that is no number': usage(['show', 'pages', 'first'], /no row "first"/, /rows are 1 to 2$/),
    'a part of the name of a row': {
      make: setTable('name,size,make_page\nnight,4,\nknight,5,\nnightly,6,\nKnightly,7,\n'),
      args: ['show', 'pages', 'NIGHT'],
      says: /no row "NIGHT"/,
      advises: /rows are 1 to 4; did you mean 1 \(night\), 2 \(knight\), 3 \(nightly\)\?$/,
      at: '',
    },
    'a number that is the name of a row': {
      make: setTable('name,size,make_page\n7,4,\n4711,5,\n'),
      args: ['logs', 'pages', '--row', '4711'],
      says: /no row "4711"/,
      advises: /rows are 1 to 2; did you mean 2 \(4711\)\?$/,
      at: '',
    },
    'the name of several rows': {
      make: (...at) => {
        setManager((text) => text.replace('- agent', '- label: size\n- agent'))(...at);
        setTable('name,size,make_page\na,big,\nb,big,\n')(...at);
      },
      args: ['preview', 'pages', 'make_page', '--row', 'big'],
      says: /several rows are called "big"/,
      advises: /did you mean 1 \(big\), 2 \(big\)\?$/,
      at: '',
    },
    'an index behind the last': usage(
      ['table', 'pages', 'slice', '--index', '2'],
      /no index "2"/,
      /indices are 0 to 1/,
    ),
    'an index below zero': usage(['table', 'pages', 'edit', 'name', '-1', 'x'], /unknown option|no index/, /./),
    'a task that is not there': {
      args: ['start', 'pages', '--task', 'make_pages'],
      says: /pages has no task "make_pages"/,
      advises: /did you mean make_page\?/,
      at: '',
    },
    'a verb that is not there': usage(['table', 'pages', 'cuont'], /no verb "cuont"/, /did you mean count\?/),
    'no verb': usage(['table', 'pages'], /a verb is missing/, /verbs are: count, headers/),
    'a column that is not there': usage(
      ['table', 'pages', 'edit', 'nmae', '0', 'x'],
      /no column "nmae"/,
      /mean name\?/,
    ),
    'a status that is none': usage(
      ['table', 'pages', 'edit', 'make_page', '0', 'ok'],
      /"ok" is not a status/,
      /todo, in/,
    ),
    'an arrow that is none': usage(
      ['table', 'pages', 'edit', 'make_page', '0', 'done'],
      /todo to done|todo.*done/,
      /./,
    ),
    'a value of another form': usage(['table', 'pages', 'add', 'name'], /"name" is not NAME=VALUE/, /table --help/),
    'a search for nothing': usage(
      ['table', 'pages', 'search'],
      /search needs --exact VALUE and --select COLUMN/,
      /table --help/,
    ),
    'several shifts, and none named': {
      make: (_, project) => {
        project.shift('zebra', { table: 'a\n', tasks: {} });
      },
      args: ['start'],
      says: /there are several shifts/,
      advises: /name one of: pages, zebra/,
      at: '',
    },
    'no shift': {
      make: (shift, project) => rmSync(project.path(shift.folder), { recursive: true }),
      args: ['start'],
      says: /there is no shift yet/,
      advises: /`nightshift create NAME`/,
      at: '',
    },
    'no .nightshift folder': {
      make: (_, project) => rmSync(project.path('.nightshift'), { recursive: true }),
      args: ['status'],
      says: /there is no \.nightshift folder in /,
      advises: /`nightshift create NAME`/,
      at: '',
    },
    'a file in place of .nightshift': {
      make: (_, project) => {
        rmSync(project.path('.nightshift'), { recursive: true });
        project.write('.nightshift', '');
      },
      args: ['list'],
      says: /\.nightshift is not a folder/,
      advises: /remove it|rename it/,
      at: '..',
    },
    'an archive of what is not finished': {
      args: ['archive', 'pages'],
      says: /pages has 2 items not completed/,
      advises: /--force/,
      at: '',
    },
  });
});

describe('M7 nothing to do', () => {
  check({
    'no tasks': {
      make: setManager((text) => text.replace('1. make_page\n', '')),
      says: /pages has no tasks/,
      advises: /`nightshift add-task pages TASK`/,
      at: 'manager.md:9',
    },
    'no items': {
      make: setTable('name,size,make_page\n'),
      says: /pages has no items/,
      advises: /`nightshift table pages add NAME=VALUE`/,
      at: 'table.csv:1',
    },
  });

  test('already complete: exit code 0, said in other words, and nothing is started', async () => {
    const { project, shift } = rightProject();
    shift.tableText = 'name,size,make_page\na,1,done\nb,2,done\n';
    // Only Progress may be behind, if the run that did the last item ended too early.
    await shift.start();
    expect(shift.manager).toContain('- Completed: 2\n');
    const before = listing(project.root);
    const ended = await project.run(['start', 'pages']);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toMatch(/Already complete/);
    expect(ended.stdout).toContain('nightshift archive pages');
    expect(ended.stdout).not.toMatch(/no tasks|no items/);
    const told = await shift.start();
    expect(told.events.map(({ type }) => type)).toEqual(['run:finished']);
    expect(told.events[0]).toMatchObject({ exitCode: 0, reason: 'already complete' });
    expect(listing(project.root)).toEqual(before);
  });
});

test('T6 a second start says who runs it and since when, exit code 5, and leaves everything as it is', async () => {
  const { project, shift } = rightProject();
  project.write(`${shift.folder}/make_page.md`, shellTask('mkdir -p begun; while ! test -e go; do sleep 0.05; done'));
  const first = shift.launch();
  await until(() => project.exists('begun'), 'the first run');
  // The first run still writes its own files. Its step makes a folder, because `touch` sets the time twice.
  const files = () => Object.entries(listing(project.root)).filter(([name]) => !name.includes('/.engine'));
  const before = files();
  const second = await shift.start();
  expect(second.code).toBe(5);
  expectOneError(second);
  expect(second.stderr).toMatch(/^error: pages is already being run by process \d+ since \d\d:\d\d\n/);
  expect(second.stderr).toContain(`process ${process.pid} `);
  expect(second.stderr).toContain('`nightshift attach pages`');
  expect(files()).toEqual(before);
  project.write('go', '');
  const { code, events } = await first.ended;
  expect(code).toBe(0);
  expect(shift.journal()).toEqual(events);
});

test('an error without --json: the same words on standard error, nothing on standard output', async () => {
  const { project, shift } = rightProject();
  shift.tableText = 'name,name,make_page\n';
  const ended = await project.run(['start']);
  expect(ended.code).toBe(2);
  expect(ended.stdout).toBe('');
  expect(ended.stderr.split('\n')).toEqual([
    expect.stringMatching(/^error: .*"name" twice/),
    `  at ${project.path(shift.folder, 'table.csv')}:1`,
    expect.stringMatching(/^ {2}rename or remove/i),
    '',
  ]);
});
