import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createTask } from '../../src/formats/task-template.ts';
import { shellTask, task, until } from '../harness.ts';
import {
  check,
  type Mistake,
  rightProject,
  setManager,
  setTable,
  setTask,
  TABLE,
  TASK,
  twoTasks,
} from '../mistakes.ts';

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
      says: /the task make_page is in the Task Order twice/,
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
  const unwritten = (what: string, line: number): Mistake => ({
    says: new RegExp(`^error: ${what} 1 of make_page is still the template's`),
    advises: /replace the line that begins with "Replace this:"/,
    at: `make_page.md:${line}`,
  });
  check({
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
      says: /the section `## Steps` appears twice/,
      advises: /merge it with the one on line 5/,
      at: 'make_page.md:21',
    },
    'another order': {
      make: setTask('## Configuration\n\n## Validation\n\n- true\n\n## Steps\n\n1. Do it\n'),
      says: /`## Validation` comes before `## Steps`/,
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
    'a block that does not belong to a step': {
      make: setTask(task({ steps: '```sh\ntrue\n```\n\n1. Do it', validation: '- true' })),
      says: /the fenced block does not belong to a step/,
      advises: /put it below its step/,
      at: 'make_page.md:7',
    },
    'steps with bullets': {
      make: setTask(TASK.replace('1. ', '- ')),
      says: /the fenced block does not belong to a step/,
      advises: /`## Steps` is a numbered list: `1\. what to do first`/,
      at: 'make_page.md:9',
    },
    'the template as it is': {
      make: setTask(createTask('make_page')),
      ...unwritten('step', 16),
    },
    'the template as it is, with an agent that would cost money': {
      make: setTask(createTask('make_page')),
      args: ['start', 'pages', '--agent', 'claude'],
      ...unwritten('step', 16),
    },
    'the template as it is, for a try': {
      make: setTask(createTask('make_page')),
      args: ['test-task', 'pages', 'make_page', '--row', '1'],
      ...unwritten('step', 16),
    },
    'the Validation of the template': {
      make: setTask(createTask('make_page').replace('Replace this: what to do first', 'Do it')),
      args: ['start', 'pages', '--dry-run'],
      ...unwritten('criterion', 28),
    },
    'an empty file': {
      make: setTask(''),
      says: /there is no section `## Steps`/,
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
      advises: /`nightshift add-task pages check_page`.*or remove it/,
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
      advises: /add commas/i,
      at: 'table.csv:4',
    },
    'a ragged row behind cells of several lines': {
      make: setTable('name,size,make_page\n"a\nb\nc",1,todo\nd,todo\n'),
      says: /this row has 2 cells/i,
      advises: /add commas/i,
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

test('F4 what is still the template is shown, but neither begun by hand nor found right', async () => {
  const { project, shift } = rightProject();
  project.write(`${shift.folder}/make_page.md`, createTask('make_page'));
  const preview = await project.run(['preview', 'pages', 'make_page', '--row', '1', '--agent', 'command']);
  expect([preview.code, preview.stdout]).toEqual([0, expect.stringContaining('1. Replace this: what to do first')]);
  const { code, stderr } = await project.run(['batch', 'open', 'pages']);
  expect([code, stderr]).toEqual([2, expect.stringContaining("step 1 of make_page is still the template's")]);
  expect(shift.tableText).toBe(TABLE);
  const doctor = await project.run(['doctor']);
  expect(doctor.stdout).toMatch(
    /^problem +pages: step 1 of make_page is still the template's.*\n +at .*make_page\.md:16$/m,
  );
});

test('F4 no template gets into a shift that runs, where it would end the run; a written task does', async () => {
  const { project, shift } = rightProject();
  const wait = 'touch begun; until [ -e go ]; do sleep 0.05; done';
  project.write(`${shift.folder}/make_page.md`, shellTask(wait));
  project.write('template.md', createTask('more'));
  project.write('written.md', shellTask('echo {name} >> more.txt'));
  const running = shift.launch();
  await until(() => project.exists('begun'), 'the first item');
  const { manager, tableText } = shift;
  for (const from of [[], ['--from', 'template.md']]) {
    const { code, stderr } = await project.run(['add-task', 'pages', 'more', ...from]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/pages is running.*\n {2}write it first, .*--from FILE/)]);
  }
  expect([shift.manager, shift.tableText, project.exists(`${shift.folder}/more.md`)]).toEqual([
    manager,
    tableText,
    false,
  ]);
  expect(await project.run(['add-task', 'pages', 'more', '--from', 'written.md'])).toMatchObject({ code: 0 });
  project.write('go', '');
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(project.read('more.txt')).toBe('a\nb\n');
});

test('F6 a task that lost its file: what is advised writes one, and its statuses stay', async () => {
  const { project, shift } = rightProject();
  const table = 'name,size,make_page\na,1,done\nb,2,todo\n';
  shift.tableText = table;
  const { manager } = shift;
  rmSync(project.path(shift.folder, 'make_page.md'));
  const { code, stderr } = await project.run(['start', 'pages']);
  const advised = /`nightshift (add-task pages make_page)` writes one/.exec(stderr)?.[1];
  expect([code, advised]).toEqual([2, 'add-task pages make_page']);
  project.write('new.md', TASK);
  const from = ['--from', 'new.md'];
  expect(await project.run([...advised!.split(' '), ...from])).toMatchObject({ code: 0, stderr: '' });
  expect([shift.tableText, shift.manager, shift.task('make_page')]).toEqual([table, manager, TASK]);
  const again = await project.run([...advised!.split(' '), ...from]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('already has the task make_page')]);
  expect(await project.run(['start', 'pages'])).toMatchObject({ code: 0 });
  expect(project.read('done.txt')).toBe('b\n');

  rmSync(project.path(shift.folder, 'make_page.md'));
  expect(await project.run(advised!.split(' '))).toMatchObject({ code: 0 });
  expect(shift.task('make_page')).toContain('# make_page');
  expect(shift.tableText).toBe(table.replace('todo', 'done'));
});
