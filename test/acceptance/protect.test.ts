import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AGENT, type Ended, Project, type ShiftHandle, task, until } from '../harness.ts';

const IDENTITY = { GIT_AUTHOR_NAME: 't', GIT_COMMITTER_NAME: 't', GIT_AUTHOR_EMAIL: 't@e', GIT_COMMITTER_EMAIL: 't@e' };
/** Right is an item whose file says so. */
const CHECK = '#!/bin/sh\ngrep -q right "out-$1"\n';

const ofType = ({ events }: Pick<Ended, 'events'>, type: string) => events.filter((event) => event.type === type);

function sh(project: Project, script: string): void {
  execFileSync('sh', ['-ec', script], { cwd: project.root, env: { ...process.env, ...IDENTITY } });
}

/** Items whose check runs `tests/check.sh`, which is protected. */
function checked(
  project: Project,
  parts: { names?: string[]; settings?: object; configuration?: string; check?: string } = {},
): ShiftHandle {
  const {
    names = ['a'],
    settings = {},
    configuration = '- protect: tests/**',
    check = './tests/check.sh {name}',
  } = parts;
  const shift = project.shift('night', {
    settings: { timeout: '60s', ...settings },
    table: `name,work\n${names.map((name) => `${name},todo\n`).join('')}`,
    tasks: {
      work: task({
        configuration: `- agent: command\n- command: ${AGENT}\n${configuration}`,
        steps: '1. Do {name}',
        validation: `- It is right\n\n  \`\`\`sh\n  ${check}\n  \`\`\``,
      }),
    },
  });
  project.write('tests/check.sh', CHECK);
  chmodSync(project.path('tests/check.sh'), 0o755);
  project.write('tests/more/data.txt', 'data\n');
  return shift;
}

function commit(project: Project): void {
  sh(project, 'git init -q; git add -A; git commit -qm All');
}

const FORGED = 'printf "#!/bin/sh\\nexit 0\\n"';

/** What a dev does to them, and which file is reported. */
const TRESPASSES: [name: string, sh: string, file: string][] = [
  ['edits', `${FORGED} > tests/check.sh`, 'tests/check.sh'],
  [
    'edits and commits',
    `${FORGED} > tests/check.sh; git -c user.name=t -c user.email=t@e commit -qam Evil`,
    'tests/check.sh',
  ],
  ['replaces by a link', `${FORGED} > evil; chmod +x evil; ln -sf ../evil tests/check.sh`, 'tests/check.sh'],
  ['replaces by a folder', 'rm tests/check.sh; mkdir tests/check.sh; touch tests/check.sh/x', 'tests/check.sh'],
  ['removes', 'rm -f tests/check.sh', 'tests/check.sh'],
  ['makes unusable', 'chmod 644 tests/check.sh', 'tests/check.sh'],
  ['removes the folder of', 'rm -rf tests', 'tests/more/data.txt'],
  [
    'replaces the folder of',
    `rm -rf tests; mkdir -p evils; ${FORGED} > evils/check.sh; chmod +x evils/check.sh; ln -s evils tests`,
    'tests',
  ],
];

test('D5 what a dev does to protected files is put back before it is judged, kept and reported; the item is judged by its work', async () => {
  const project = new Project();
  const names = TRESPASSES.flatMap((_, i) => [`wrong-${i}`, `fine-${i}`]);
  const shift = checked(project, { names, settings: { attempts: 1 } });
  commit(project);
  const evil = TRESPASSES.flatMap(([, sh], i) => [
    [`dev:wrong-${i}`, { sh }],
    [`dev:fine-${i}`, { sh: `echo right > out-fine-${i}; ${sh}` }],
  ]);
  project.behave(Object.fromEntries(evil));
  const ended = await shift.start();
  expect(shift.column('work')).toEqual(TRESPASSES.flatMap(() => ['failed', 'done']));
  expect([project.read('tests/check.sh'), project.read('tests/more/data.txt')]).toEqual([CHECK, 'data\n']);
  expect(lstatSync(project.path('tests')).isDirectory()).toBe(true);
  expect(statSync(project.path('tests/check.sh')).mode & 0o777).toBe(0o755);
  for (const [i, [name, , file]] of TRESPASSES.entries()) {
    const reverted = ofType(ended, 'edit:reverted').filter((event) => event.file === project.path(file));
    const told = reverted.find(({ what }) => new RegExp(` ${2 * i + 2} (was|were) running`).test(what));
    expect([name, told?.what]).toEqual([name, expect.stringContaining('protected')]);
    if (told.kept && lstatSync(told.kept).isFile())
      expect(readFileSync(told.kept, 'utf8')).toMatch(/exit 0|symbolic link/);
  }
  expect(project.exists(`${shift.folder}/.engine/protected`)).toBe(false);
});

test('D5 in git only what git tracks is held, as it was at the start and not as it was committed', async () => {
  const project = new Project();
  const shift = checked(project);
  project.write('tests/check.sh', '#!/bin/sh\nexit 1\n');
  sh(project, 'git init -q dep; mkdir dep/tests; echo a > dep/tests/f; git -C dep add .; git -C dep commit -qm One');
  commit(project);
  project.write('tests/check.sh', CHECK);
  const evil = 'echo x > tests/new.txt; echo right > out-a; echo > tests/check.sh; echo x > dep/tests/f';
  project.write(`${shift.folder}/work.md`, shift.task('work').replace('tests/**', '`**/tests/**`'));
  project.behave({ dev: { sh: evil } });
  const ended = await shift.start();
  expect([ended.code, project.read('tests/check.sh'), project.read('dep/tests/f')]).toEqual([0, CHECK, 'a\n']);
  expect(project.read('tests/new.txt')).toBe('x\n');
});

test('D5 outside of git all that matches is held: a file that was added is taken away and kept', async () => {
  const project = new Project();
  const shift = checked(project, { configuration: '- protect: tests, *.cfg', check: './tests/check.sh {name}' });
  project.behave({ dev: { sh: 'echo right > out-a; echo x > tests/new.txt; echo y > new.cfg; echo z > other' } });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(['tests/new.txt', 'new.cfg', 'other'].map((file) => project.exists(file))).toEqual([false, false, true]);
  const kept = ofType(ended, 'edit:reverted').map((event) => readFileSync(event.kept, 'utf8'));
  expect(kept.sort()).toEqual(['x\n', 'y\n']);
});

test('D5 checks that ran while somebody else changed what they rely on are run again', async () => {
  const project = new Project();
  // Until the forged one has passed a, once: it may be put back before it runs.
  const wait = 'until [ -e .nightshift/forged ]; do ./tests/check.sh {name} && exit 0; sleep 0.02; done';
  const check = `touch .nightshift/checking-{name}; [ {name} = b ] || ${wait}; ./tests/check.sh {name}`;
  const shift = checked(project, { names: ['a', 'b'], settings: { parallel: true }, check });
  commit(project);
  const forge = `until [ -e .nightshift/checking-a ]; do sleep 0.02; done
    until [ -e .nightshift/forged ]; do printf 'touch .nightshift/forged' > tests/check.sh; sleep 0.02; done`;
  project.behave({ 'dev:b': { sh: `echo right > out-b; ${forge}` } });
  const ended = await shift.start();
  expect(shift.column('work')).toEqual(['failed', 'done']);
  expect(project.exists('.nightshift/forged')).toBe(true);
  expect(ofType(ended, 'edit:reverted')[0].what).toMatch(/rows 1, 2/);
});

test('D5 checks during which protected files always change are nobody’s failure: the item is given back', async () => {
  const project = new Project();
  const check = 'echo >> tests/more/data.txt';
  const shift = checked(project, { settings: { patience: '1s' }, check });
  commit(project);
  const ended = await shift.start();
  expect([ended.code, shift.column('work'), project.read('tests/more/data.txt')]).toEqual([4, ['todo'], 'data\n']);
  expect(ofType(ended, 'item:returned')[0].reason).toContain('tests/more/data.txt; if a check itself writes them');
});

test('D5 an attempt whose process holds a protected file open to write fails for it', async () => {
  const project = new Project();
  const shift = checked(project);
  commit(project);
  const hold = 'exec 3>>tests/check.sh; echo x >&3; while grep -q x tests/check.sh; do sleep 0.05; done';
  project.behave({ 'dev:a:1': { sh: `echo right > out-a; ${hold}` } });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'attempt:finished').map(({ reason }) => reason)).toEqual([
    'FAILED (validation): it changed a protected file (tests/check.sh)',
    undefined,
  ]);
});

test('D5 what a killed run left changed is put back by the next; a later edit is a person’s', async () => {
  const project = new Project();
  const shift = checked(project);
  commit(project);
  project.behave({
    dev: { sh: `${FORGED} > tests/check.sh; rm tests/more/data.txt; touch .nightshift/changed; sleep 60` },
  });
  const kill = async () => {
    const running = shift.spawn();
    await until(() => project.exists('.nightshift/changed') || undefined, 'the dev');
    running.kill('SIGKILL');
    await running.ended;
    sh(project, 'rm .nightshift/changed');
  };
  await kill();
  project.write('tests/check.sh', '#!/bin/sh\nexit 0\n');
  // A sign of life can't be made older.
  utimesSync(project.path(shift.folder, '.engine/protected/files.jsonl'), new Date(0), new Date(0));
  project.behave({ dev: { sh: 'echo right > out-a' } });
  const next = await shift.start();
  expect([next.code, project.read('tests/check.sh'), project.read('tests/more/data.txt')]).toEqual([
    0,
    CHECK,
    'data\n',
  ]);
  expect(ofType(next, 'edit:reverted').every(({ what }) => what.includes('a run that was killed'))).toBe(true);

  await project.run(['table', 'night', 'reset', '--index', '0']);
  project.behave({ dev: { sh: 'touch .nightshift/changed; sleep 60' } });
  await kill();
  const record = project.path(shift.folder, '.engine/protected/files.jsonl');
  const { ctimeMs } = statSync(record);
  await until(() => Date.now() > ctimeMs + 4000, 'the last breath of the run');
  const edited = '#!/bin/sh\nexit 0\n';
  project.write('tests/check.sh', edited);
  project.behave({});
  expect([(await shift.start()).code, project.read('tests/check.sh')]).toEqual([0, edited]);
});

test('D5 test-task and batches by hand hold protected files too', async () => {
  const project = new Project();
  const shift = checked(project);
  commit(project);
  project.behave({ dev: { sh: `${FORGED} > tests/check.sh` } });
  const tried = await project.run(['test-task', 'night', 'work', '--row', '1']);
  expect([tried.code, project.read('tests/check.sh')]).toEqual([3, CHECK]);

  const opened = JSON.parse((await project.run(['batch', 'open', 'night', '--json'])).stdout);
  const token = /--token[ =](\w+)/.exec(project.read(opened.items[0].prompt))![1]!;
  sh(project, `${FORGED} > tests/check.sh`);
  const edit = () => project.run(['table', 'night', 'edit', 'work', '0', 'qa', '--token', token]);
  const refused = await edit();
  expect([refused.code, project.read('tests/check.sh')]).toEqual([3, CHECK]);
  sh(project, `echo right > out-a; ${FORGED} > tests/check.sh`);
  expect((await edit()).code).toBe(0);
  sh(project, `${FORGED} > tests/check.sh`);
  await project.run(['batch', 'close', 'night', '--give-back']);
  expect([project.read('tests/check.sh'), project.exists(`${shift.folder}/.engine/protected`)]).toEqual([CHECK, false]);
});

test('D5 start, preview and doctor name files that a check or `command` runs and a dev can rewrite', async () => {
  const project = new Project();
  const check =
    './tests/check.sh {name}; npm --version > /dev/null; sh lib/a.sh; sh made.sh; . ./new.sh || true; sh gone.sh || true';
  const shift = checked(project, { configuration: '- protect: tests/**, new.sh', check });
  for (const file of ['lib/a.sh', 'made.sh', 'package.json']) project.write(file, 'true\n');
  project.write(`${shift.folder}/work.md`, shift.task('work').replace('1. Do {name}', '1. Write `made.sh` for {name}'));
  commit(project);
  project.write('new.sh', 'true\n');
  project.behave({ dev: { sh: 'echo right > out-a' } });
  const expected = [
    /work\.md:\d+: the check `sh lib\/a\.sh` runs lib\/a\.sh, which a dev can rewrite; add `- protect: lib\/a\.sh` to/,
    /work\.md:\d+: the check `\. \.\/new\.sh` runs new\.sh, which a dev can rewrite as long as git does not track it; `git add`/,
  ];
  const ended = await shift.start();
  const preview = await project.run(['preview', 'night', 'work', '--row', '1']);
  const told = [ofType(ended, 'run:warning').map(({ message }) => message), preview.stderr.trim().split('\n')];
  for (const lines of told) {
    expect(lines).toHaveLength(2);
    for (const [at, line] of expected.entries()) expect(lines[at]).toMatch(line);
  }
  const doctor = JSON.parse((await project.run(['doctor', '--json'])).stdout);
  const found = JSON.stringify(doctor).match(/which a dev can rewrite/g);
  expect(found).toHaveLength(2);
  const program = shift.task('work').replace(/^- command: .*$/m, '- command: sh lib/judge.sh --fast');
  project.write(`${shift.folder}/work.md`, program);
  project.write('lib/judge.sh', 'true\n');
  const ownProgram = await project.run(['preview', 'night', 'work', '--row', '1']);
  expect(ownProgram.stderr).toMatch(
    /work\.md:\d+: the command `sh lib\/judge\.sh` runs lib\/judge\.sh, which a dev can rewrite; add `- protect: lib/,
  );
});
