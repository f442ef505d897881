import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { processIo } from '../../src/cli/io.ts';
import { accessOf, createProgram } from '../../src/cli/program.ts';
import { NIGHTSHIFT, Project, shellTask } from '../harness.ts';
import { listing } from '../listing.ts';

const TABLE = 'name,work\na,failed\nb,done\n';
const NO_FLEET = 'postgres://127.0.0.1:1/none';
/** One call of each command that writes, or of each way in which it does. */
const WRITING: Record<string, string[][]> = {
  init: [['init'], ['init', '--remove']],
  create: [
    ['create', 'other'],
    ['create', 'other', '--example', 'fix-lint-rule'],
  ],
  each: [['each', 'more.csv', '--do', 'Greet {name}']],
  'add-task': [['add-task', 'night', 'more']],
  deliver: [['deliver', 'night', '--yes']],
  sync: [['sync', 'night']],
  table: [
    ['table', 'night', 'edit', 'work', '1', 'todo'],
    ['table', 'edit', 'name', '0', 'A'],
    ['table', 'night', 'add', 'name=c'],
    ['table', 'night', 'import', 'more.csv'],
    ['table', 'night', 'remove', '--index', '0'],
    ['table', 'night', 'add-column', 'more'],
    ['table', 'rename-column', 'name', 'id', '--force'],
    ['table', 'night', 'drop-column', 'name', '--force'],
    ['update-table', 'night', 'reset'],
    ['table', 'night', 'edit', 'work', '0', 'done', '--token', 'guessed'],
  ],
  start: [
    ['start', 'night'],
    ['start', 'night', '--detach'],
  ],
  batch: [
    ['batch', 'open', 'night'],
    ['batch', 'close', 'night'],
  ],
  lesson: [['lesson', 'night', 'work', '{}']],
  lessons: ['accept', 'reject', 'pin', 'ban', 'undo', 'add'].map((verb) => ['lessons', 'night', verb, 'L1']),
  accept: [['accept', 'night', '--yes']],
  edit: [['edit', 'night', 'work']],
  stop: [['stop', 'night']],
  pause: [['pause', 'night', '--now']],
  resume: [['resume', 'night']],
  report: [
    ['report', 'night'],
    ['report', 'night', '--md', '-o', 'night.md'],
  ],
  retry: [['retry', 'night']],
  'test-task': [['test-task', 'night', 'work', '--row', '1']],
  export: [['export', 'night', '--csv', '.nightshift/night/table.csv']],
  steps: [['steps', 'night', 'work', '--restore', '1']],
  archive: [['archive', 'night', '--force']],
  unarchive: [['unarchive', 'night']],
  doctor: [['doctor', '--fix']],
  workspaces: [
    ['workspaces', 'night', 'prune', '--force-row', '1'],
    ['workspaces', 'prune'],
  ],
  demo: [['demo', 'here']],
  fleet: [
    ['fleet', 'init', '--url', NO_FLEET],
    ['fleet', 'drain', 'one', '--url', NO_FLEET],
    ['fleet', 'stop', '--url', NO_FLEET],
  ],
  worker: [['worker', '--url', NO_FLEET]],
  view: [['view'], ['view', 'night', '--read-only']],
  __page: [['__page', 'night']],
};
const READING = [
  ['status', 'night'],
  ['show', 'night', '1'],
  ['table', 'night', 'show', '--json'],
  ['export', 'night', '--csv', '-'],
  ['start', 'night', '--dry-run'],
  ['steps', 'night', 'work'],
  ['lessons', 'night', 'work'],
  ['lessons', 'night', 'export'],
  ['workspaces', 'night'],
  ['workspaces', 'night', 'prune', '--dry-run'],
  ['list'],
  ['create', '--list-examples'],
];

function night(project: Project, step = 'touch never', check = 'true') {
  project.write('more.csv', 'name\nc\n');
  return project.shift('night', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { work: shellTask(step, check) },
  });
}

test('D5 every command says whether it writes, and every one that does is known here', () => {
  const { commands } = createProgram(processIo(), '0', () => {});
  const accesses = commands.map((command) => [command.name(), accessOf(command)] as const);
  expect(accesses.filter(([, access]) => access === undefined)).toEqual([]);
  const writing = accesses.filter(([, access]) => access !== 'reads').map(([name]) => name);
  expect(writing.sort()).toEqual(Object.keys(WRITING).sort());
});

test('D5 inside an agent every command that writes is refused in one sentence, and what reads answers', async () => {
  const project = new Project();
  night(project);
  const before = listing(project.root);
  const env = { NIGHTSHIFT_ROLE: 'dev' };
  for (const [name, calls] of Object.entries(WRITING)) {
    for (const args of calls) {
      const { code, stdout, stderr } = await project.run(args, { env });
      const isGuessed = args.includes('guessed');
      const sentence = isGuessed
        ? /^error: the token is not the current one/
        : new RegExp(`^error: \`nightshift ${name}\` is not for an agent \\(dev\\) that works on an item: .*\\n$`);
      expect([args, code, stdout, stderr]).toEqual([args, 2, '', expect.stringMatching(sentence)]);
    }
  }
  for (const args of READING) expect([args, (await project.run(args, { env })).code]).toEqual([args, 0]);
  expect(listing(project.root)).toEqual(before);
}, 240_000);

test('D5 an agent or a check is known by its ancestors, whatever it does to its environment', async () => {
  const project = new Project();
  const bare = `env -i PATH="$PATH" ${process.execPath} ${NIGHTSHIFT}`;
  const ways = [
    `${bare} table night reset --index 1`,
    `setsid ${bare} stop night`,
    `nohup ${bare} table night edit work 1 todo`,
    `env -u NIGHTSHIFT_ROLE ${process.execPath} ${NIGHTSHIFT} table night add name=c`,
    `sh -c "exec ${bare} create other"`,
  ];
  const attempts = ways
    .map((way) => `${way} 2>> said </dev/null >/dev/null && echo 0 >> codes || echo $? >> codes`)
    .join('\n');
  // The agent itself begins anew without an environment: above it there is only the run.
  const anew = `exec env -i PATH="$PATH" sh -c '${process.execPath} ${NIGHTSHIFT} stop night 2>> said; echo $? >> codes; ${process.execPath} ${NIGHTSHIFT} status night > read'`;
  // A daemon: adopted by another process before it calls, and with nothing above it that belongs to the run.
  const calls = `while [ -d /proc/$$ ]; do sleep 0.05; done; ${process.execPath} ${NIGHTSHIFT} table night reset --index 1 2>> said; echo $? >> codes`;
  const daemon = `setsid env -i PATH="$PATH" sh -c '( ( ${calls} ) & )'\nuntil [ "$(wc -l < codes)" = 6 ]; do sleep 0.05; done`;
  const shift = night(
    project,
    `${attempts}\n${daemon}\n${anew}`,
    `${bare} table night reset --index 1 2>> said || test $? = 2`,
  );
  shift.tableText = TABLE.replace('failed', 'todo');
  expect(await shift.start()).toMatchObject({ code: 0 });
  expect(project.read('codes').trim().split('\n')).toEqual(Array(7).fill('2'));
  expect(project.read('said').trim().split('\n')).toEqual(
    Array(8).fill(expect.stringMatching(/^error: `nightshift \S+` is not for an agent.* that works on an item/)),
  );
  expect(project.read('read')).toContain('night');
  expect([shift.column('work'), existsSync(project.path('.nightshift/other'))]).toEqual([['done', 'done'], false]);
});

test('D5 so is one that test-task started', async () => {
  const project = new Project();
  const anew = `exec env -i PATH="$PATH" sh -c '${process.execPath} ${NIGHTSHIFT} table night reset 2> said; test $? = 2'`;
  const shift = night(project, anew);
  expect(await project.run(['test-task', 'night', 'work', '--row', '1'])).toMatchObject({ code: 0 });
  expect(project.read('said')).toMatch(/is not for an agent that works on an item/);
  expect(shift.tableText).toBe(TABLE);
});

test('D5 a person may call it through a program that waits for it, whose command line names it', () => {
  const project = new Project();
  const shift = night(project);
  const command = [process.execPath, NIGHTSHIFT, 'table', 'night', 'reset', '--failed'];
  execFileSync('timeout', ['60', ...command], { cwd: project.root });
  expect(shift.column('work')).toEqual(['todo', 'done']);
});
