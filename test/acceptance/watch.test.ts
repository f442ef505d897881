import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AGENT, agentTask, type Ended, NIGHTSHIFT, Project, type ShiftHandle, task } from '../harness.ts';

const ONE = 'name,work\nalpha,todo\n';

function oneItem(project: Project, configuration = ''): ShiftHandle {
  return project.shift('night', { table: ONE, tasks: { work: agentTask(undefined, undefined, configuration) } });
}

function git(project: Project, ...args: string[]): void {
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: project.root });
}

/** A repository with everything committed, in which `*.db` and `dist` are ignored. */
function repository(project: Project): void {
  project.write('.gitignore', 'dist/\n*.db\n');
  project.write('page.txt', 'old\n');
  git(project, 'init', '-q');
  git(project, 'add', '.');
  git(project, 'commit', '-qm', 'All');
}

const ofType = ({ events }: Ended, type: string) => events.filter((event) => event.type === type);
const asked = (project: Project, name?: string) =>
  project.calls().filter((call) => call.role === 'qa' && !call.ended && (name === undefined || call.name === name));

test('Q2 Q4 the verdict of a qa that changes files is void; asked once more, then failed; nothing is undone', async () => {
  const project = new Project();
  const shift = oneItem(project);
  project.behave({ qa: { sh: 'touch 1 2 3 4 5' } });
  const ended = await shift.start();
  expect([ended.code, shift.column('work')]).toEqual([3, ['failed']]);
  const [first, second] = asked(project);
  expect([asked(project).length, first.pid === second.pid]).toEqual([2, false]);
  const reason = 'it changed 1, 2, 3 (and 2 more)';
  expect(ofType(ended, 'verdict:voided')[0]).toMatchObject({ index: 0, task: 'work', reason });
  const recorded = ofType(ended, 'item:recorded').at(-1);
  expect(recorded.reason).toContain('qa gave no usable verdict: its verdict is void: it changed ');
  expect((await project.run(['status', 'night'])).stdout).toContain('its verdict is void');
  expect(project.exists('1')).toBe(true);
});

test('Q2 a second qa that changes nothing decides, and the checks are run again on what the first one left', async () => {
  const project = new Project();
  const validation = '- It reads well\n- It is new\n\n  ```sh\n  grep -q new page.txt\n  ```';
  const shift = project.shift('night', {
    table: 'name,work\nalpha,todo\nbeta,todo\n',
    tasks: { work: task({ configuration: `- agent: command\n- command: ${AGENT}`, steps: '1. Do', validation }) },
  });
  const dev = { sh: 'echo new > page.txt' };
  project.behave({ dev, 'qa:alpha:1': { sh: 'echo new, spoilt > page.txt' }, 'qa:beta:1': { sh: 'echo > page.txt' } });
  const ended = await shift.start();
  expect([ended.code, shift.column('work')]).toEqual([3, ['done', 'failed']]);
  expect(ofType(ended, 'verdict:voided').map(({ changed }) => changed)).toEqual([['page.txt'], ['page.txt']]);
  expect(ofType(ended, 'item:recorded').at(-1).reason).toMatch(/^It is new: exit code 1/);
});

test('Q2 what git ignores, git itself, editors and checks may change; what `protect` names may not', async () => {
  const project = new Project();
  const beside = 'touch .DS_Store .page.txt.swp page.txt~ "#page.txt#"; mkdir -p __pycache__; date +%N > __pycache__/x';
  const sh = `cat page.txt; git status; git update-index --refresh; mkdir -p dist/a; date +%N > dist/a/b; echo > x.db; ${beside}`;
  const shift = oneItem(project);
  repository(project);
  project.write('.git/info/exclude', '__pycache__/\n');
  project.behave({ qa: { sh } });
  expect((await shift.start()).code).toBe(0);
  const protect = '- protect: `dist/**, other/*.db`\n';
  project.write(`${shift.folder}/work.md`, agentTask('1. Do {name}', '- {name} is done', protect));
  await project.run(['table', 'night', 'reset', '--index', '0']);
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(ofType(ended, 'verdict:voided').map(({ changed }) => changed)).toEqual([['dist/a/b'], ['dist/a/b']]);

  project.write(`${shift.folder}/table.csv`, 'name,work\nalpha,qa\n');
  const check = '- {name} is done\n- Checked\n\n  ```sh\n  date +%N >> page.txt\n  ```';
  project.write(`${shift.folder}/work.md`, agentTask('1. Do {name}', check));
  expect((await shift.start()).code).toBe(0);
});

test('Q2 all of the repository is watched, in a folder of it too, and no program that it names is run', async () => {
  const project = new Project();
  const shift = oneItem(project, '- working-dir: deep/down\n');
  project.write('deep/down/behaviour.json', JSON.stringify({ qa: { sh: 'echo new > ../../page.txt' } }));
  repository(project);
  const evil = '#!/bin/sh\ntouch .nightshift/evil\n';
  for (const file of ['.git/evil', '.git/hooks/post-index-change']) {
    project.write(file, evil);
    chmodSync(project.path(file), 0o755);
  }
  git(project, 'config', 'core.fsmonitor', project.path('.git/evil'));
  const ended = await shift.start();
  expect(ofType(ended, 'verdict:voided').map(({ changed }) => changed)).toEqual(Array(2).fill(['../../page.txt']));
  expect(project.exists('.nightshift/evil')).toBe(false);
});

/** A repository inside of the project, as `git clone` leaves one. */
const CLONE = 'git init -q dep; echo a > dep/f.txt; git -C dep add .; git -C dep commit -qm One';
const IDENTITY = { GIT_AUTHOR_NAME: 't', GIT_COMMITTER_NAME: 't', GIT_AUTHOR_EMAIL: 't@e', GIT_COMMITTER_EMAIL: 't@e' };

test('Q2 what a voided qa hid is seen when the next item is judged', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: 'name,work\na,todo\nb,todo\n', tasks: { work: agentTask() } });
  repository(project);
  const hide = 'echo "*.new" >> .git/info/exclude; mkdir -p d; echo "*" > d/.gitignore';
  project.behave({
    'qa:a': { sh: `${hide}; date > d/a` },
    'qa:b:1': { sh: 'date > b.new' },
    'qa:b:2': { sh: 'date > d/b' },
  });
  const ended = await shift.start();
  expect(shift.column('work')).toEqual(['failed', 'failed']);
  const ofSecond = ofType(ended, 'verdict:voided').filter(({ index }) => index === 1);
  expect(ofSecond.map(({ changed }) => changed)).toEqual([['b.new'], ['d/b']]);
});

test('Q2 outside of git, repositories inside the folder are watched too, without what they ignore', async () => {
  const project = new Project();
  const shift = oneItem(project);
  execFileSync('sh', ['-c', `${CLONE}; echo dist/ > dep/.gitignore`], {
    cwd: project.root,
    env: { ...process.env, ...IDENTITY },
  });
  project.behave({ qa: { sh: 'mkdir -p dep/dist; date +%N > dep/dist/x' } });
  expect((await shift.start()).code).toBe(0);
  await project.run(['table', 'night', 'reset', '--index', '0']);
  project.behave({ qa: { sh: 'date +%N > dep/new.txt' } });
  expect(ofType(await shift.start(), 'verdict:voided').map(({ changed }) => changed)).toEqual(
    Array(2).fill(['dep/new.txt']),
  );
});

test('Q2 no git that an agent could have left in the project is run', async () => {
  const project = new Project();
  const shift = oneItem(project);
  repository(project);
  project.write('dist/git', '#!/bin/sh\ntouch .nightshift/evil\n');
  chmodSync(project.path('dist/git'), 0o755);
  project.behave({ qa: { sh: 'date +%N > page.txt' } });
  const ended = await shift.start([], { env: { PATH: `${project.path('dist')}:${process.env.PATH}` } });
  expect([ended.code, ofType(ended, 'verdict:voided').length, project.exists('.nightshift/evil')]).toEqual([
    3,
    2,
    false,
  ]);
});

test.each([
  ['--json > out.jsonl 2> night.log', 'out.jsonl'],
  ['| cat | tee night.log > /dev/null', 'night.log'],
])('Q2 what Nightshift itself prints in the folder (%s) voids nothing; a file in its place does', async (to, file) => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true, 'current-batch-size': 2, qa: 'parallel', timeout: '60s' },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: agentTask() },
  });
  const start = () =>
    execFileSync('sh', ['-c', `${process.execPath} ${NIGHTSHIFT} start night ${to} || true`], { cwd: project.root });
  // The end of b is printed while a is judged.
  const waits = `until grep -Eq 'row 2 b: work done|"index":1,"item":.*"status":"PASS"' ${file}; do sleep 0.05; done`;
  project.behave({ 'qa:a': { sh: waits } });
  start();
  expect(shift.column('work')).toEqual(['done', 'done']);
  expect(shift.journal().filter(({ type }) => type === 'verdict:voided')).toEqual([]);
  await project.run(['table', 'night', 'reset', '--index', '0']);
  project.behave({ 'qa:a': { sh: `cp ${file} x; rm ${file}; mv x ${file}` } });
  start();
  expect(shift.column('work')).toEqual(['failed', 'done']);
});

test('Q2 with qa: parallel a change voids all that judge there; who is asked again is alone, and only the culprit fails', async () => {
  const project = new Project();
  const names = ['a', 'b', 'c'];
  const shift = project.shift('night', {
    settings: { parallel: true, 'current-batch-size': 3, qa: 'parallel', timeout: '60s' },
    table: `name,work\n${names.map((name) => `${name},todo\n`).join('')}`,
    tasks: { work: agentTask() },
  });
  const meet =
    'touch .nightshift/at-$NIGHTSHIFT_INDEX; until [ "$(ls .nightshift/at-* | wc -l)" = 3 ]; do sleep 0.05; done';
  const waits = 'until [ -e page.txt ]; do sleep 0.05; done';
  const write = 'date +%N > page.txt';
  project.behave({ 'qa:b': { sh: `${meet}; ${write}` }, qa: { sh: `${meet}; ${waits}` } });
  const ended = await shift.start();
  expect(shift.column('work')).toEqual(['done', 'failed', 'done']);
  expect(names.map((name) => asked(project, name).length)).toEqual([2, 2, 2]);
  const voided = ofType(ended, 'verdict:voided');
  expect(voided.map(({ index, reason }) => `${index}: ${reason}`).sort()).toEqual(
    [
      ...[0, 1, 2].map((index) => `${index}: it, or another qa in the same folder, changed page.txt`),
      '1: it changed page.txt',
    ].sort(),
  );
  // Nobody else was asked between the beginning and the end of a second time.
  const seconds = project.calls().filter(({ role, attempt }) => role === 'qa' && attempt === '2');
  expect(seconds.map((call) => call.ended ?? false)).toEqual([false, true, false, true, false, true]);
});

test('Q2 while a dev works in the same folder a qa is not watched, which is said once', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true, dispatch: 'stream', 'current-batch-size': 3, timeout: '60s' },
    table: 'name,work\na,todo\nb,todo\nc,todo\n',
    tasks: { work: agentTask() },
  });
  const waits = { sh: 'until [ "$(ls page-* | wc -l)" = 2 ]; do sleep 0.05; done' };
  project.behave({ 'dev:c': waits, qa: { sh: 'touch page-$NIGHTSHIFT_INDEX' }, 'qa:c': {} });
  const ended = await shift.start();
  expect([ended.code, ofType(ended, 'verdict:voided')]).toEqual([0, []]);
  expect(ofType(ended, 'run:warning').map(({ message }) => message)).toEqual([
    'changes by a qa are not noticed while devs or checks work in the same folder',
  ]);
});

test('Q2 devs in other folders are in nobody’s way', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true, dispatch: 'stream', timeout: '60s', 'working-dir': 'place-{name}' },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: agentTask() },
  });
  const waits = { sh: 'until [ -e ../.nightshift/judged ]; do date > page.txt; sleep 0.05; done' };
  project.write('place-b/behaviour.json', JSON.stringify({ dev: waits }));
  const judge = { 'qa:a:1': { sh: 'touch page.txt' }, 'qa:a:2': { sh: 'touch ../.nightshift/judged' } };
  project.write('place-a/behaviour.json', JSON.stringify(judge));
  const ended = await shift.start();
  expect([ended.code, ofType(ended, 'run:warning')]).toEqual([0, []]);
  expect(ofType(ended, 'verdict:voided')).toMatchObject([{ index: 0, changed: ['page.txt'] }]);
});

test('Q2 a change beside another shift that runs here is not taken for the qa’s', async () => {
  const project = new Project();
  const shift = oneItem(project);
  const other = project.shift('other', { table: ONE, tasks: { work: agentTask() } });
  const held = 'while ! [ -e .nightshift/judged ]; do date > page.txt; sleep 0.05; done';
  project.behave({
    dev: { sh: `[ "$NIGHTSHIFT_SHIFT" = night ] || { ${held}; }` },
    qa: { sh: 'until [ -e page.txt ]; do sleep 0.05; done; date > page.txt' },
  });
  const running = other.launch();
  await running.seen('dev:started');
  const ended = await shift.start();
  project.write('.nightshift/judged', '');
  expect([ended.code, (await running.ended).code]).toEqual([0, 3]);
  expect(ofType(ended, 'run:warning')[0].message).toContain('while another shift of this project runs');
});

test('Q2 test-task tells it too', async () => {
  const project = new Project();
  oneItem(project);
  project.behave({ qa: { sh: 'echo x >> page.txt' } });
  const { code, stdout } = await project.run(['test-task', 'night', 'work', '--row', '1']);
  expect(code).toBe(3);
  expect(stdout).toContain('row 1: work: the verdict of its qa is void: it changed page.txt');
});
