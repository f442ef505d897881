import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe } from 'vitest';
import { check, LONG, type Mistake, setManager } from '../mistakes.ts';

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
    'a task that begins with a digit': taskName('2nd', /^ {2}try task_2nd$/),
    'a task with a dot': taskName('make.page', /^ {2}try make_page$/),
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
    'a task with the name of a column that holds something else': {
      args: ['add-task', 'pages', 'size'],
      says: /the table already has a column "size", and what it holds are no statuses/,
      advises: /^ {2}choose another name for the task, or rename the column$/,
      at: 'table.csv:2',
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
    'a socket in place of the manifest': {
      make: (shift, project) => {
        rmSync(project.path(shift.folder, 'manager.md'));
        socket(project.path(shift.folder, 'manager.md'));
      },
      says: /manager\.md is not a file/,
      advises: /must be a file/,
      at: 'manager.md',
    },
  });
});

function pipe(file: string): void {
  execFileSync('mkfifo', [file]);
}

/** It stays when the program that made it is killed. */
function socket(file: string): void {
  const script = "require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 9))";
  spawnSync(process.execPath, ['-e', script, basename(file)], { cwd: dirname(file) });
}
