import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { escapeUnsafe } from '../../src/views/printable.ts';
import { agentTask, type Ended, Project, type ShiftHandle, shellTask, sleep, task, until } from '../harness.ts';
import { listing } from '../listing.ts';

type Change = (shift: ShiftHandle, project: Project) => void;

/** One way to be wrong, and all that a tired person must be told about it. */
interface Mistake {
  /** What is wrong with a shift that was right; or with the arguments. */
  make?: Change;
  args?: readonly string[];
  /** The message; what to do. */
  says: RegExp;
  advises: RegExp;
  /** `FILE:LINE`, from the shift's folder; `''` where there is no place: a name on the command line. */
  at: string;
  exit?: number;
}

const TABLE = 'name,size,make_page\na,1,todo\nb,2,todo\n';
const TASK = shellTask('echo {name} >> done.txt', 'grep -x {name} done.txt');
const LONG = 'x'.repeat(4096);

/** A project with one shift, `pages`, that is right in every way. */
function rightProject(): { project: Project; shift: ShiftHandle } {
  const project = new Project();
  const shift = project.shift('pages', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { make_page: TASK },
    env: 'API_KEY=s3cret-value\n',
  });
  return { project, shift };
}

/** Runs it with `--json`: people read standard error, which is the same without; machines read standard output. */
async function refuse(mistake: Mistake): Promise<void> {
  const { project, shift } = rightProject();
  mistake.make?.(shift, project);
  const before = listing(project.root);
  const [command = '', ...rest] = mistake.args ?? ['start', 'pages'];
  const ended = await project.run([command, '--json', ...rest]);
  expect(ended.stderr).toMatch(mistake.says);
  expect(ended.code, ended.stderr).toBe(mistake.exit ?? 2);
  const [message = '', ...more] = ended.stderr.trimEnd().split('\n');
  expect(message).toMatch(/^error: /);
  expect(message, 'the message').toMatch(mistake.says);
  const place = mistake.at === '' ? [] : [`  at ${project.path(shift.folder, mistake.at)}`];
  expect(
    more.filter((line) => line.startsWith('  at ')),
    ended.stderr,
  ).toEqual(place);
  expect(more.filter((line) => !line.startsWith('  at ')).join('\n'), 'what to do').toMatch(mistake.advises);
  expect(ended.stderr).not.toMatch(/\bat .*\.js:\d|bug in Nightshift|s3cret/);
  expect(message.length, 'the message').toBeLessThan(500);
  expectOneError(ended);
  expect(listing(project.root)).toEqual(before);
}

/** Standard output holds one JSON object that says the same. */
function expectOneError({ stdout, stderr }: Ended): void {
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  const { type, code, message } = JSON.parse(stdout);
  expect(type).toBe('error');
  expect(code).toMatch(/^[a-z-]+$/);
  expect(stderr).toContain(escapeUnsafe(message));
}

function check(mistakes: Record<string, Mistake>): void {
  test.each(Object.entries(mistakes))('%s', (_, mistake) => refuse(mistake));
}

const setTable =
  (table: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/table.csv`, table);
const setTask =
  (text: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/make_page.md`, text);
const setManager =
  (change: (text: string) => string): Change =>
  (shift) => {
    const changed = change(shift.manager);
    if (changed === shift.manager) throw new Error('the mistake was not made');
    shift.manager = changed;
  };
const setEnv =
  (text: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/.env`, text);

describe('F1 names', () => {
  const shiftName = (name: string, advises: RegExp): Mistake => ({
    args: ['create', '--', name],
    says: /is not a shift name: .*kebab-case: lower-case letters, digits and single hyphens/,
    advises,
    at: '',
  });
  const taskName = (name: string, advises: RegExp): Mistake => ({
    args: ['add-task', 'pages', '--', name],
    says: /is not a task name: .*snake_case: lower-case letters, digits and underscores, beginning with a letter/,
    advises,
    at: '',
  });
  check({
    'a shift with capitals and a blank': shiftName('My Shift', /^ {2}try my-shift$/),
    'a shift with an underscore': shiftName('my_shift', /^ {2}try my-shift$/),
    'a shift with two hyphens': shiftName('a--b', /^ {2}try a-b$/),
    'a shift with a hyphen at an end': shiftName('-a-', /^ {2}try a$/),
    'an empty shift name': shiftName('', /^ {2}try my-shift$/),
    'a shift that leads outside': shiftName('../x', /^ {2}try x$/),
    'a shift with an absolute path': shiftName('/etc/passwd', /^ {2}try etc-passwd$/),
    'a shift of 4 KB': shiftName(LONG, /^ {2}try x{64}$/),
    'a shift in unicode': shiftName('Übung 夜勤', /^ {2}try ubung$/),
    'a shift that only has letters of another script': shiftName('夜勤', /^ {2}try my-shift$/),
    'a shift with control characters': shiftName('a\u001b[31mb\u009b', /^ {2}try a-31mb$/),
    'a task with a hyphen': taskName('make-page', /^ {2}try make_page$/),
    'a task that begins with a digit': taskName('2nd', /^ {2}try task_2nd$/),
    'a task in camel case': taskName('makePage', /^ {2}try make_page$/),
    'an empty task name': taskName('', /^ {2}try task$/),
    'a task that leads outside': taskName('../x', /^ {2}try x$/),
    'a task with an absolute path': taskName('/tmp/x', /^ {2}try tmp_x$/),
    'a task of 4 KB': taskName(LONG, /^ {2}try x{64}$/),
    'a task in unicode': taskName('prüfen', /^ {2}try prufen$/),
  });
  check({
    'archive, which is the folder of archived shifts': {
      args: ['create', 'archive'],
      says: /"archive" is not a shift name: .*archived shifts/,
      advises: /^ {2}try my-shift$/,
      at: '',
    },
    'a name that leads outside, for a shift that is to be started': {
      args: ['start', '../pages'],
      says: /"..\/pages" is not a shift name/,
      advises: /^ {2}try pages$/,
      at: '',
    },
    'a task in the Task Order that is not snake_case': {
      make: setManager((text) => text.replace('1. make_page', '1. make-page')),
      says: /"make-page" is not a task name/,
      advises: /^ {2}try make_page$/,
      at: 'manager.md:11',
    },
    'a task in the Task Order that leads outside': {
      make: setManager((text) => text.replace('1. make_page', '1. ../pages/make_page')),
      says: /"..\/pages\/make_page" is not a task name/,
      advises: /^ {2}try pages_make_page$/,
      at: 'manager.md:11',
    },
    'a shift that is already there': {
      args: ['create', 'pages'],
      says: /there is already a shift pages/,
      advises: /choose another name, or .*archive/,
      at: '.',
    },
    'a task that is already there': {
      args: ['add-task', 'pages', 'make_page'],
      says: /pages already has the task make_page/,
      advises: /edit .*make_page\.md/,
      at: 'manager.md:11',
    },
    'a shift that is not there': {
      args: ['start', 'pagse'],
      says: /there is no shift pagse/,
      advises: /did you mean pages\?/,
      at: '',
    },
  });
});

describe('F1 nothing leads out of the shift', () => {
  const link = (file: string): Mistake => ({
    make: (shift, project) => {
      renameSync(project.path(shift.folder, file), project.path('elsewhere'));
      symlinkSync(project.path('elsewhere'), project.path(shift.folder, file));
    },
    says: /is a symbolic link/,
    advises: /put the (file|folder) itself/,
    at: file,
  });
  const engineLink = (file: string): Mistake => ({
    make: (shift, project) => {
      mkdirSync(project.path(shift.folder, '.engine'), { recursive: true });
      rmSync(project.path(shift.folder, file), { recursive: true, force: true });
      if (file === '.engine') mkdirSync(project.path('elsewhere'));
      else project.write('elsewhere', 'not ours');
      symlinkSync(project.path('elsewhere'), project.path(shift.folder, file));
    },
    says: /is a symbolic link/,
    advises: /put the (file|folder) itself|remove the link/,
    at: file,
  });
  check({
    'a shift folder that is a link': {
      make: (shift, project) => {
        renameSync(project.path(shift.folder), project.path('elsewhere'));
        symlinkSync(project.path('elsewhere'), project.path(shift.folder));
      },
      says: /is a symbolic link/,
      advises: /put the shift folder itself there/,
      at: '.',
    },
    'table.csv': link('table.csv'),
    'manager.md': link('manager.md'),
    'a task file': link('make_page.md'),
    '.env': link('.env'),
    'the lock file': engineLink('table.csv.lock'),
    "the engine's folder": engineLink('.engine'),
    'the lock of the run': engineLink('.engine/run.lock'),
    'the journal': engineLink('.engine/journal.jsonl'),
    'a folder in place of the table': {
      make: (shift, project) => {
        rmSync(project.path(shift.folder, 'table.csv'));
        mkdirSync(project.path(shift.folder, 'table.csv'));
      },
      says: /table\.csv is a folder/,
      advises: /must be a file/,
      at: 'table.csv',
    },
    'a file in place of the shift': {
      make: (shift, project) => {
        rmSync(project.path(shift.folder), { recursive: true });
        project.write(shift.folder, '');
      },
      says: /is not a folder/,
      advises: /remove it|rename/,
      at: '.',
    },
    'a pipe in place of a task file': {
      make: (shift, project) => {
        rmSync(project.path(shift.folder, 'make_page.md'));
        pipe(project.path(shift.folder, 'make_page.md'));
      },
      says: /make_page\.md is not a file/,
      advises: /must be a file/,
      at: 'make_page.md',
    },
    'a pipe in place of the table': {
      make: (shift, project) => {
        rmSync(project.path(shift.folder, 'table.csv'));
        pipe(project.path(shift.folder, 'table.csv'));
      },
      says: /table\.csv is not a file/,
      advises: /must be a file/,
      at: 'table.csv',
    },
  });
});

describe('F2 the manifest', () => {
  check({
    'no manifest': {
      make: (shift, project) => rmSync(project.path(shift.folder, 'manager.md')),
      says: /manager\.md is missing/,
      advises: /restore it/,
      at: 'manager.md',
    },
    'no Shift Configuration': {
      make: setManager((text) => text.replace('## Shift Configuration', '## Shift Configuraton')),
      says: /there is no section `## Shift Configuration`/,
      advises: /rename `## Shift Configuraton` to `## Shift Configuration`/,
      at: 'manager.md:3',
    },
    'no Task Order': {
      make: setManager((text) => text.replace('## Task Order\n\n1. make_page\n', '')),
      says: /there is no section `## Task Order`/,
      advises: /add a line `## Task Order`/,
      at: 'manager.md:15',
    },
    'a Task Order of bullets': {
      make: setManager((text) => text.replace('1. make_page', '- make_page')),
      says: /Task Order is not a numbered list/,
      advises: /write `1\. task_name`/,
      at: 'manager.md:11',
    },
    'a task twice': {
      make: setManager((text) => text.replace('1. make_page', '1. make_page\n2. make_page')),
      says: /the task make_page stands twice in Task Order/,
      advises: /line 11 or line 12/,
      at: 'manager.md:12',
    },
    'a key twice': {
      make: setManager((text) => text.replace('- agent: shell', '- agent: shell\n- agent: command')),
      says: /`agent` is set twice/,
      advises: /keep one of line 7 and line 8/,
      at: 'manager.md:8',
    },
    'another name than its folder': {
      make: setManager((text) => text.replace('- name: pages', '- name: other')),
      says: /has the name other, but its folder is pages/,
      advises: /write `- name: pages`, or rename the folder/,
      at: 'manager.md:5',
    },
    'a comment without end': {
      make: setManager((text) => text.replace('## Task Order', '<!-- ## Task Order')),
      says: /the comment is never closed/,
      advises: /-->/,
      at: 'manager.md:9',
    },
    'not UTF-8': {
      make: (shift, project) =>
        project.write(
          `${shift.folder}/manager.md`,
          Buffer.concat([Buffer.from(shift.manager), Buffer.from('\nGr\xfc\xdfe\n', 'latin1')]),
        ),
      says: /not UTF-8/,
      advises: /save it as UTF-8/,
      at: 'manager.md:20',
    },
    'a NUL byte': {
      make: setManager((text) => `${text}\n\0\n`),
      says: /NUL/,
      advises: /remove it|restore it/,
      at: 'manager.md:20',
    },
  });
});

describe('F4 a task file', () => {
  const without = (section: string) => TASK.replace(`## ${section}\n`, '');
  const missing = (section: string, line: number): Mistake => ({
    make: setTask(without(section)),
    says: new RegExp(`there is no section \`## ${section}\``),
    advises: new RegExp(`add a line \`## ${section}\``),
    at: `make_page.md:${line}`,
  });
  check({
    'no Configuration': missing('Configuration', 18),
    'no Steps': missing('Steps', 18),
    'no Validation': missing('Validation', 18),
    'a section of almost that name': {
      make: setTask(TASK.replace('## Validation', '## Validations')),
      says: /there is no section `## Validation`/,
      advises: /rename `## Validations` to `## Validation`/,
      at: 'make_page.md:13',
    },
    'a section twice': {
      make: setTask(`${TASK}\n## Steps\n\n1. More\n`),
      says: /the section `## Steps` stands twice/,
      advises: /merge it with the one in line 5/,
      at: 'make_page.md:21',
    },
    'another order': {
      make: setTask('## Configuration\n\n## Validation\n\n- true\n\n## Steps\n\n1. Do it\n'),
      says: /`## Validation` stands before `## Steps`/,
      advises: /the order is Configuration, Steps, Validation/,
      at: 'make_page.md:3',
    },
    'empty Steps': {
      make: setTask(task({ steps: 'Nothing yet.', validation: '- true' })),
      says: /the section `## Steps` is empty/,
      advises: /numbered list/,
      at: 'make_page.md:5',
    },
    'empty Validation': {
      make: setTask(task({ steps: '1. Do it', validation: '' })),
      says: /the section `## Validation` is empty/,
      advises: /a bullet for each criterion/,
      at: 'make_page.md:9',
    },
    'an empty step': {
      make: setTask(task({ steps: '1. Do it\n2.\n3. Go', validation: '- true' })),
      says: /step 2 is empty/,
      advises: /write it, or remove/,
      at: 'make_page.md:8',
    },
    'a block without end': {
      make: setTask(task({ steps: '1. Do it\n\n```sh\ntrue\n', validation: '- true' })),
      says: /the fenced block is never closed/,
      advises: /close it/,
      at: 'make_page.md:9',
    },
    'a block that belongs to no step': {
      make: setTask(task({ steps: '```sh\ntrue\n```\n\n1. Do it', validation: '- true' })),
      says: /the fenced block belongs to no step/,
      advises: /put it below the step/,
      at: 'make_page.md:7',
    },
    'an empty file': {
      make: setTask(''),
      says: /there is no section `## Configuration`/,
      advises: /add a line/,
      at: 'make_page.md:1',
    },
    'not UTF-8': {
      make: setTask(Buffer.concat([Buffer.from(TASK), Buffer.from('\nGr\xfc\xdfe\n', 'latin1')])),
      says: /not UTF-8/,
      advises: /save it as UTF-8/,
      at: 'make_page.md:21',
    },
    'UTF-16': {
      make: setTask(Buffer.from(`\ufeff${TASK}`, 'utf16le')),
      says: /UTF-8/,
      advises: /save it as UTF-8/,
      at: 'make_page.md:1',
    },
    'a file that does not pass, given to add-task': {
      make: (_, project) => project.write('new.md', '## Configuration\n\n## Steps\n\n1. Do it\n'),
      args: ['add-task', 'pages', 'other', '--from', 'new.md'],
      says: /there is no section `## Validation`/,
      advises: /add a line/,
      at: '../../new.md:5',
    },
  });
});

describe('F6 files that do not fit together', () => {
  check({
    'a name in Task Order without its file': {
      make: setManager((text) => text.replace('1. make_page', '1. make_page\n2. check_page')),
      says: /the Task Order names check_page, but there is no check_page\.md/,
      advises: /`nightshift add-task pages check_page`.*or take it out/,
      at: 'manager.md:12',
    },
    'a task without its column': {
      make: setTable('name,size\na,1\n'),
      says: /no column make_page/,
      advises: /add the column with `todo` in every row, or take make_page out/,
      at: 'table.csv:1',
    },
    'a duplicate header': {
      make: setTable('name,size,name,make_page\na,1,b,todo\n'),
      says: /"name" twice: columns 1 and 3/,
      advises: /rename or remove one/i,
      at: 'table.csv:1',
    },
    'a row that is too long': {
      make: setTable(`${TABLE}c,d,3,todo\n`),
      says: /this row has 4 cells, but the header has 3 columns/i,
      advises: /comma into double quotes/,
      at: 'table.csv:4',
    },
    'a row that is too short': {
      make: setTable(`${TABLE}c,todo\n`),
      says: /this row has 2 cells, but the header has 3 columns/i,
      advises: /add the commas/i,
      at: 'table.csv:4',
    },
    'a ragged row behind cells of several lines': {
      make: setTable('name,size,make_page\n"a\nb\nc",1,todo\nd,todo\n'),
      says: /this row has 2 cells/i,
      advises: /add the commas/i,
      at: 'table.csv:5',
    },
    'an unknown status': {
      make: setTable('name,size,make_page\na,1,todo\nb,2,finished\n'),
      says: /row 2 has the unknown status "finished" in column "make_page"/i,
      advises: /todo, in_progress, qa, done, failed/,
      at: 'table.csv:3',
    },
    'a status in capitals': {
      make: setTable('name,size,make_page\na,1,Done\n'),
      says: /unknown status "Done"/,
      advises: /write it as "done"/i,
      at: 'table.csv:2',
    },
    'no status': {
      make: setTable('name,size,make_page\na,1,\n'),
      says: /row 1 has no status/i,
      advises: /"todo"/,
      at: 'table.csv:2',
    },
    'two tasks with the same output': {
      make: (shift) => twoTasks(shift, '- outputs: url', '- outputs: link, url'),
      says: /the output url is declared by make_page and by check_page/,
      advises: /give the output another name/,
      at: 'check_page.md:3',
    },
    'an output with the name of a task': {
      make: (shift) => twoTasks(shift, '- outputs: check_page', ''),
      says: /the output check_page of make_page has the name of a task/,
      advises: /give the output another name/,
      at: 'make_page.md:3',
    },
    'outputs of the whole shift that every task would fill': {
      make: (shift) => {
        twoTasks(shift, '', '');
        shift.manager = shift.manager.replace('- agent: shell', '- agent: shell\n- outputs: url');
      },
      says: /the output url is declared by make_page and by check_page/,
      advises: /give the output another name|Configuration/,
      at: 'manager.md:8',
    },
  });
});

describe('F3 a table that is none', () => {
  check({
    'no table': {
      make: (shift, project) => rmSync(project.path(shift.folder, 'table.csv')),
      says: /table\.csv is missing/,
      advises: /restore it/,
      at: 'table.csv',
    },
    'an empty file': {
      make: setTable(''),
      says: /no header/,
      advises: /names of the columns/,
      at: 'table.csv:1',
    },
    'a header without names': {
      make: setTable('name,,make_page\na,1,todo\n'),
      says: /column 2 has no name/i,
      advises: /name it/i,
      at: 'table.csv:1',
    },
    'rows without a header': {
      make: setTable('a,1,todo\nb,2,todo\n'),
      says: /no column make_page/,
      advises: /first line/,
      at: 'table.csv:1',
    },
    'an unclosed quote': {
      make: setTable('name,size,make_page\na,1,todo\n"b,2,todo\nc,3,todo\n'),
      says: /opens in this line and is never closed/i,
      advises: /closing quote/,
      at: 'table.csv:3',
    },
    'a quote in the middle': {
      make: setTable('name,size,make_page\n5" pipe,1,todo\n'),
      says: /double quote in the middle/,
      advises: /"5"" pipe"/,
      at: 'table.csv:2',
    },
    'a blank line': {
      make: setTable('name,size,make_page\na,1,todo\n\nb,2,todo\n'),
      says: /blank line/,
      advises: /remove the blank line/i,
      at: 'table.csv:3',
    },
    'a NUL byte': {
      make: setTable('name,size,make_page\na,1,todo\nb\0,2,todo\n'),
      says: /NUL/,
      advises: /restore it/i,
      at: 'table.csv:3',
    },
    'UTF-16 with a mark': {
      make: setTable(Buffer.from(`\ufeff${TABLE}`, 'utf16le')),
      says: /UTF-16/,
      advises: /iconv -f UTF-16 -t UTF-8/,
      at: 'table.csv:1',
    },
    'UTF-16 without a mark': {
      make: setTable(Buffer.from(TABLE, 'utf16le')),
      says: /UTF-16/,
      advises: /iconv -f UTF-16LE -t UTF-8/,
      at: 'table.csv:1',
    },
    'latin-1': {
      make: setTable(Buffer.from('name,size,make_page\na,1,todo\nGr\xfc\xdfe,2,todo\n', 'latin1')),
      says: /not valid UTF-8/,
      advises: /iconv -f WINDOWS-1252 -t UTF-8/,
      at: 'table.csv:3',
    },
    'a cell of 20 MB': {
      make: setTable(`name,size,make_page\na,1,todo\n${'b'.repeat(20 * 1024 * 1024)},2,todo\n`),
      says: /cell of 20 MiB in column "name"; the limit is 1 MiB/,
      advises: /files/,
      at: 'table.csv:3',
    },
    'a table that does not pass, given to create': {
      make: (_, project) => project.write('items.csv', 'name,name\na,b\n'),
      args: ['create', 'other', '--from', 'items.csv'],
      says: /"name" twice/,
      advises: /rename or remove/i,
      at: '../../items.csv:1',
    },
    'a table that is not there, given to create': {
      args: ['create', 'other', '--from', 'items.csv'],
      says: /items\.csv is missing/,
      advises: /check the name/,
      at: '../../items.csv',
    },
    'a file name of 4 KB': {
      args: ['create', 'other', '--from', LONG],
      says: /name.* too long/,
      advises: /shorter/,
      at: `../../${LONG}`,
    },
  });
});

describe('F7 .env', () => {
  const bad = (text: string | Buffer, says: RegExp, advises: RegExp, line: number): Mistake => ({
    make: setEnv(text),
    says,
    advises,
    at: `.env:${line}`,
  });
  check({
    'a line that is none': bad('A=1\ns3cret-value\n', /this line is not KEY=VALUE/, /quotes; a comment/, 2),
    'a name that is none': bad('s3cret value=1\n', /does not begin with the name of a variable/, /letters, digits/, 1),
    'a reserved name': bad('A=1\n\nNIGHTSHIFT_KEY=s3cret\n', /NIGHTSHIFT_KEY.*reserved/, /choose another/, 3),
    'text behind a quote': bad('A="s3cret"s3cret"\n', /behind the closing quote/, /another kind of quotes/, 1),
    'a NUL byte': bad('A=s3cret\nB=s3cret\0\n', /NUL/, /remove the NUL/, 2),
    'not UTF-8': bad(Buffer.from('A=1\nB=s3cret\xfc\n', 'latin1'), /not UTF-8/, /save it as UTF-8/, 2),
  });
});

describe('V2 placeholders that name nothing', () => {
  const step = (text: string, says: RegExp, advises: RegExp): Mistake => ({
    make: setTask(shellTask(text)),
    says,
    advises,
    at: 'make_page.md:10',
  });
  check({
    'a column that is not there': step('echo {nmae}', /\{nmae\}: .*no such column/, /did you mean \{name\}\?/),
    'a column that is like none': step(
      'echo {whatever}',
      /\{whatever\}: .*no such column/,
      /name, size|\{\{whatever\}\}/,
    ),
    'a variable that is not there': step('echo {ENV:API_KEI}', /\{ENV:API_KEI\}: /, /did you mean \{ENV:API_KEY\}\?/),
    'a variable of another file': step('echo {ENV:HOME_PAGE_URL}', /no such variable/, /add HOME_PAGE_URL= to .*\.env/),
    'another SHIFT key': step('echo {SHIFT:FOLDR}', /\{SHIFT:FOLDR\}: /, /did you mean \{SHIFT:FOLDER\}\?/),
    'in the words of a step': {
      make: setTask(agentTask('1. Do it\n2. Then\n   open {nmae}')),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'make_page.md:11',
    },
    'in a criterion': {
      make: setTask(agentTask('1. Do it', '- One\n- {siez} is right')),
      says: /\{siez\}: /,
      advises: /did you mean \{size\}\?/,
      at: 'make_page.md:14',
    },
    'in working-dir': {
      make: setTask(shellTask('true', 'true', '- working-dir: out/{nmae}')),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'make_page.md:3',
    },
    'in a task that comes after a right one': {
      make: (shift) => twoTasks(shift, '', '', '{nmae}'),
      says: /\{nmae\}: /,
      advises: /did you mean \{name\}\?/,
      at: 'check_page.md:10',
    },
    'an output of a later task': {
      make: (shift) => twoTasks(shift, '', '- outputs: url', '', '{url}'),
      says: /\{url\}: this column is filled by check_page, which comes later/,
      advises: /move check_page before this task/,
      at: 'make_page.md:10',
    },
  });
});

describe('V4 values that would become shell text', () => {
  const step = (text: string, says: RegExp, advises: RegExp, line = 10): Mistake => ({
    make: setTask(shellTask(text)),
    says,
    advises,
    at: `make_page.md:${line}`,
  });
  check({
    eval: step('eval "echo {name}"', /\{name\}.*shell text/, /"\$value"/),
    'sh -c': step('sh -c "echo {name}"', /\{name\}.*shell text/, /sh -c 'echo "\$1"' sh \{name\}/),
    backticks: step('x=`echo {name}`', /\{name\}.*backticks/, /\$\( \)/),
    arithmetic: step('echo $(( {size} + 1 ))', /\{size\}.*arithmetic/, /case \{size\} in/),
    'a parameter expansion': step(`x=1\necho "\${x:-{name}}"`, /\{name\}/, /value=\{name\}/, 11),
    'a quoted here-document': step("cat <<'EOF'\n{name}\nEOF", /\{name\}.*literally/, /take the quotes off/, 11),
    'the name of a variable': step('{name}=1', /\{name\}.*name of a variable/, /fixed name/),
    'a remote command': step('ssh host "rm {name}"', /\{name\}.*ssh/, /printf %s \{name\} \| ssh/),
    'a backslash': step('echo \\{name}', /\{name\}.*backslash/, /remove the backslash/),
    'a check': {
      make: setTask(shellTask('true', 'eval {name}')),
      says: /\{name\}.*shell text/,
      advises: /"\$value"/,
      at: 'make_page.md:18',
    },
  });
});

describe('X1 settings', () => {
  const configured = (configuration: string, says: RegExp, advises: RegExp, line = 3): Mistake => ({
    make: setTask(shellTask('true', 'true', configuration)),
    says,
    advises,
    at: `make_page.md:${line}`,
  });
  check({
    'a time that is none': configured('- timeout: soon', /`timeout: soon` is not a time/, /90s, 30m or 2h/),
    'a time below zero': configured('- check-timeout: -5m', /`check-timeout: -5m` is not a time/, /90s/),
    'no time at all': configured('- timeout: 0s', /`timeout: 0s` is not a time/, /90s/),
    'a time of the whole shift': {
      make: setManager((text) => text.replace('- agent: shell', '- agent: shell\n- timeout: 5 apples')),
      says: /`timeout: 5 apples` is not a time/,
      advises: /90s, 30m or 2h/,
      at: 'manager.md:8',
    },
    'another qa': configured(
      '- qa: never',
      /`qa: never` is not one of auto, always, parallel/,
      /write auto, always, parallel/,
    ),
    'an unknown agent': configured('- agent: shel', /there is no agent "shel"/, /did you mean shell\? .*command/),
    'an unknown agent of the whole shift': {
      make: setManager((text) => text.replace('- agent: shell', '- agent: claud')),
      says: /there is no agent "claud"/,
      advises: /agents are: .*shell/,
      at: 'manager.md:7',
    },
    'an unknown agent on the command line': {
      args: ['start', 'pages', '--agent', 'shel'],
      says: /there is no agent "shel"/,
      advises: /did you mean shell\?/,
      at: '',
    },
    'no agent': {
      make: setManager((text) => text.replace('- agent: shell\n', '')),
      says: /the agent of make_page can't be started/,
      advises: /no program opencode on PATH: install it .*opencode-ai.*agent: NAME/,
      at: 'make_page.md:1',
      exit: 6,
    },
    'an agent of a shift that is to be made': {
      args: ['create', 'other', '--agent', 'shel'],
      says: /there is no agent "shel"/,
      advises: /agents are: .*shell/,
      at: '',
    },
    'command without its line': configured('- agent: command', /no command is set/, /add `- command: LINE`/),
    'an agent program that is not there': {
      ...configured(
        '- agent: command\n- command: no-such-program --now',
        /the agent of make_page can't be started/,
        /no program no-such-program on PATH: install it, or correct/,
        4,
      ),
      exit: 6,
    },
    'an agent program in a folder that is not there': {
      ...configured(
        '- agent: command\n- command: ./bin/agent.sh',
        /the agent of make_page can't be started/,
        /no program \.\/bin\/agent\.sh in .*correct/,
        4,
      ),
      exit: 6,
    },
  });
});

describe('X3 what the agent shell can not do', () => {
  check({
    'a step without a block': {
      make: setTask(task({ steps: '1. Do it\n\n   ```sh\n   true\n   ```\n2. Think', validation: '- true' })),
      says: /step 2 of make_page has no `sh` block/,
      advises: /a block that begins with ```sh/,
      at: 'make_page.md:12',
    },
    'a criterion without a check': {
      make: setTask(`${TASK}- It is beautiful\n`),
      says: /criterion 2 of make_page has no check/,
      advises: /put a ```sh block below it/,
      at: 'make_page.md:20',
    },
    'qa: always': {
      make: setTask(shellTask('true', 'true', '- qa: always')),
      says: /`qa: always` needs an agent that can judge/,
      advises: /write `qa: auto`/,
      at: 'make_page.md:3',
    },
    'a `protect` that leads out': {
      make: setTask(shellTask('true', 'true', '- protect: dist/**, ../data/*.db')),
      says: /`protect: \.\.\/data\/\*\.db` leads out of the working folder/,
      advises: /name files in it/,
      at: 'make_page.md:3',
    },
    'two checks for one criterion': {
      make: setTask(`${TASK}\n   \`\`\`sh\n   true\n   \`\`\`\n`),
      says: /criterion 1 has 2 `sh` blocks/,
      advises: /make it one block, or a criterion for each/,
      at: 'make_page.md:15',
    },
  });
});

describe('the command line', () => {
  const usage = (args: readonly string[], says: RegExp, advises: RegExp): Mistake => ({ args, says, advises, at: '' });
  check({
    'an unknown command': usage(['strat'], /unknown command 'strat'/, /start/),
    'an unknown flag': usage(['start', '--rowz', '3'], /unknown option '--rowz'/, /--rows/),
    'a flag without its value': usage(['start', 'pages', '--rows'], /--rows/, /--help/),
    'an argument too many': usage(['start', 'pages', 'now'], /too many arguments/, /--help/),
    'an argument too few': usage(['add-task', 'pages'], /missing required argument 'task'/, /--help/),
    'a row that is missing': usage(['preview', 'pages', 'make_page'], /--row/, /--help/),
    'rows backwards': usage(['start', 'pages', '--rows', '10:3'], /"10:3" is not a range of rows/, /3:10/),
    'row 0': usage(['start', 'pages', '--rows', '0'], /"0" is not a range/, /the first row is 1/),
    'rows in words': usage(['start', 'pages', '--rows', 'all'], /"all" is not a range/, /3, 3:10, 3: or :10/),
    'rows behind the last': usage(['start', 'pages', '--rows', '7:9'], /no row .*7/, /rows are 1 to 2/),
    'a row behind the last': usage(['preview', 'pages', 'make_page', '--row', '3'], /no row "3"/, /rows are 1 to 2/),
    'a row that is no number': usage(['show', 'pages', 'first'], /no row "first"/, /rows are 1 to 2/),
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
      says: /2 items of pages not completed/,
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

/** When the first run has written all that belongs to its beginning, its journal and transcript included. */
async function stillListing(root: string): Promise<ReturnType<typeof listing>> {
  for (let before = listing(root); ; ) {
    await sleep(500);
    const after = listing(root);
    if (isDeepStrictEqual(after, before)) return after;
    before = after;
  }
}

test('T6 a second start says who runs it and since when, exit code 5, and leaves everything as it is', async () => {
  const { project, shift } = rightProject();
  project.write(`${shift.folder}/make_page.md`, shellTask('touch begun; while ! test -e go; do sleep 0.05; done'));
  const first = shift.spawn();
  await until(() => project.exists('begun'), 'the first run');
  const before = await stillListing(project.root);
  const second = await shift.start();
  expect(second.code).toBe(5);
  expectOneError(second);
  expect(second.stderr).toMatch(/^error: pages is already being run by process \d+ since \d{4}-\d\d-\d\dT/);
  expect(second.stderr).toContain(`process ${first.pid} `);
  expect(second.stderr).toContain('`nightshift attach pages`');
  expect(listing(project.root)).toEqual(before);
  project.write('go', '');
  expect((await first.ended).code).toBe(0);
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

describe('S9 control characters of others', () => {
  const EVIL = '\u001b[31m\u001b]52;c;eA==\u0007\u009b2J\u0090x\u009c\u202e\u2066\u007f\b';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that may not get to a terminal
  const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

  const commands: [string, string[], number][] = [
    ['start', ['start', 'pages'], 3],
    ['start --json', ['start', 'pages', '--json'], 3],
    ['status', ['status', 'pages'], 0],
    ['status --json', ['status', 'pages', '--json'], 0],
    ['show', ['show', 'pages', '1'], 0],
    ['show --json', ['show', 'pages', '1', '--json'], 0],
    ['preview', ['preview', 'pages', 'make_page', '--row', '1'], 0],
    ['table show', ['table', 'pages', 'show'], 0],
    ['table show --json', ['table', 'pages', 'show', '--json'], 0],
    ['table headers', ['table', 'pages', 'headers'], 0],
    ['a column', ['table', 'pages', 'edit', `x${EVIL}`, '0', 'x'], 2],
    ['a command', [`x${EVIL}`], 2],
    ['a flag', ['start', `--x${EVIL}`], 2],
    ['a file', ['create', 'other', '--from', `${EVIL}.csv`], 2],
    ['a task', ['start', 'pages', '--task', EVIL], 2],
  ];
  test('in cells, headers, agent output and file names', { timeout: 120_000 }, async () => {
    const project = new Project(realpathSync(mkdtempSync(join(tmpdir(), `nightshift-test-${EVIL}`))));
    project.shift('pages', {
      settings: { [`key${EVIL}`]: EVIL },
      table: `name,n${EVIL},make_page\na${EVIL},${EVIL},todo\n`,
      tasks: { make_page: agentTask() },
    });
    const recommendations = [EVIL];
    project.behave({
      dev: { stderr: EVIL, stdout: EVIL, report: { overall_status: 'FAILED (step 1)', error: EVIL, recommendations } },
    });
    for (const [name, args, code] of commands) {
      if (args[0] === 'start' && code === 3) await project.run(['table', 'pages', 'reset', '--failed']);
      const ended = await project.run(args);
      expect(ended.code, `${name}\n${ended.stderr}`).toBe(code);
      expect(ended.stdout, name).not.toMatch(UNSAFE);
      expect(ended.stderr, name).not.toMatch(UNSAFE);
      if (args.includes('--json')) for (const line of ended.stdout.trimEnd().split('\n')) JSON.parse(line);
      if (name === 'table show --json') expect(ended.events[0].rows[0].name).toBe(`a${EVIL}`);
    }
  });
});

function twoTasks(shift: ShiftHandle, first: string, second: string, name = '{name}', firstStep = '{name}'): void {
  const { project, folder } = shift;
  project.write(`${folder}/make_page.md`, shellTask(`echo ${firstStep}`, 'true', first));
  project.write(`${folder}/check_page.md`, shellTask(`echo ${name}`, 'true', second));
  shift.manager = shift.manager.replace('1. make_page', '1. make_page\n2. check_page');
  shift.tableText = 'name,size,make_page,check_page\na,1,todo,todo\n';
}

function pipe(file: string): void {
  execFileSync('mkfifo', [file]);
}
