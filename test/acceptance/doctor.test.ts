import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentTask, Project, processesOf, shellTask, task, until } from '../harness.ts';

/** What `doctor --json` says. */
async function doctor(project: Project, ...args: string[]) {
  const { code, stdout, stderr } = await project.run(['doctor', '--json', ...args]);
  expect(stderr).toBe('');
  return { code, ...JSON.parse(stdout) };
}

/** Every file below a folder with its bytes. */
function bytes(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name)).sort();
  return Object.fromEntries(files.map((file) => [file.slice(folder.length), readFileSync(file, 'latin1')]));
}

const OLDER_MANAGER = `# Site

## Shift Configuration

- name: site
- agent: shell
<!-- a comment of ours -->

## Task Order

1. \`create-page\`
2. check
`;
const OLDER_TABLE = [
  '\uFEFFrow,name,"create-page",check',
  '1,a,complete,pending',
  '2,b,in-progress,',
  '3,"c, the third",Done,failed',
  '4,d,"pending",todo',
  '',
].join('\r\n');

function olderShift(project: Project): void {
  project.write('.nightshift/site/manager.md', OLDER_MANAGER);
  project.write('.nightshift/site/table.csv', OLDER_TABLE);
  project.write('.nightshift/site/table.csv.bak', 'older');
  project.write('.nightshift/site/create-page.md', shellTask('echo {name} >> made'));
  project.write('.nightshift/site/check.md', shellTask('true'));
  project.write('.nightshift/site/notes.txt', 'ours\n');
}

test('doctor reads a shift of older origin and says what would be changed; --fix does all of it, keeps a copy, and it runs', async () => {
  const project = new Project();
  olderShift(project);
  const before = bytes(project.path('.nightshift'));
  const found = await doctor(project);
  expect(found.code).toBe(2);
  const [finding] = found.findings.filter(({ shift }: { shift?: string }) => shift === 'site');
  expect(finding).toMatchObject({ level: 'problem', fixable: true, remedy: expect.stringContaining('--fix') });
  expect(finding.details).toEqual([
    'the task create-page becomes create_page: in the Task Order, its file and its column',
    'create_page: "complete" becomes done (1 row)',
    'create_page: "in-progress" becomes todo (1 row)',
    'create_page: "Done" becomes done (1 row)',
    'create_page: "pending" becomes todo (1 row)',
    'check: "pending" becomes todo (1 row)',
    'manager.md gets a Progress section',
    'table.csv.bak, left by an older table tool, moves to the backup',
  ]);
  expect(bytes(project.path('.nightshift'))).toEqual(before);

  const fixed = await doctor(project, '--fix');
  expect([fixed.code, fixed.problems]).toEqual([0, 0]);
  const folder = project.path('.nightshift/site');
  expect(readFileSync(join(folder, 'table.csv'), 'utf8')).toBe(
    [
      '\uFEFFrow,name,"create_page",check',
      '1,a,done,todo',
      '2,b,todo,',
      '3,"c, the third",done,failed',
      '4,d,"todo",todo',
      '',
    ].join('\r\n'),
  );
  const manager = readFileSync(join(folder, 'manager.md'), 'utf8');
  expect(manager).toBe(
    `${OLDER_MANAGER.replace('create-page', 'create_page')}\n## Progress\n\n- Total items: 4\n- Completed: 0\n- Failed: 1\n- Remaining: 3\n`,
  );
  expect(
    readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort(),
  ).toEqual(['check.md', 'create_page.md', 'manager.md', 'notes.txt', 'table.csv', 'table.csv.lock']);
  // The copy has every byte of what there was.
  const [kept = ''] = readdirSync(project.path('.nightshift')).filter((name) => name.startsWith('.before-doctor-'));
  expect(kept).toMatch(/^\.before-doctor-\d{4}-\d\d-\d\d-site$/);
  const copy = bytes(project.path('.nightshift', kept));
  for (const [file, text] of Object.entries(before)) expect(copy[file.replace('/site', '')]).toBe(text);
  expect(project.read('.nightshift/.gitignore')).toContain('.before-doctor-*');
  // The lock is the same file as before: it is never replaced.
  const inode = (file: string) => statSync(project.path('.nightshift', file)).ino;
  expect(inode('site/table.csv.lock')).toBe(inode(`${kept}/table.csv.lock`));

  const again = await doctor(project, '--fix');
  expect(again.fixed).toEqual([]);
  const { code } = await project.run(['retry', 'site', '--all']);
  expect(code).toBe(0);
  expect(project.read('made')).toBe('b\nd\n');
});

/** As the origin's templates of 0.x to 3.x write it. */
const ORIGIN_TASK = `## Configuration

- tools: bash
# - model: sonnet
- agent: shell
- \`working_dir\`: {repo_path}
- worktree: false

## Steps

1. After \`create-page\` (see create-page.md), not create-pages; {{create-page}} was {create-page}

   \`\`\`sh
   echo {repo_path} > "{SHIFT:FOLDER}/made.txt"; cp {SHIFT:FOLDER}//made.txt here.txt; touch {SHIFT:FOLDER}plain.txt
   \`\`\`

## Validation

- It is in {SHIFT:FOLDER}

  \`\`\`sh
  : {create-page}; test -e here.txt -a -e '{SHIFT:FOLDER}plain.txt'
  \`\`\`
`;

test('F2 F3 V1 V4 what the origin wrote from 0.x to 3.x is understood, or brought up to date by doctor --fix', async () => {
  const project = new Project();
  const manager = (order: string) =>
    `## Shift Configuration\n\n- name: old\n- created: 2026-01-01\n- agent: shell\n<!-- - parallel: true -->\n\n## Task Order\n\n${order}`;
  const none = '(no tasks yet — use `/nightshift-add-task old` to add tasks)\n';
  project.write('repos/a/.keep', '');
  project.write('.nightshift/oldplain.txt', '');
  project.write('.nightshift/old/manager.md', manager(`${none}\n1. create-page\n2. check\n`));
  project.write('.nightshift/old/table.csv', 'row,repo_path,create-page,check\n1,repos/a,complete,pending\n');
  project.write('.nightshift/old/create-page.md', shellTask('true'));
  project.write('.nightshift/old/check.md', ORIGIN_TASK);
  const details = (findings: { shift?: string; details?: string[] }[]) =>
    findings.flatMap((each) => each.details ?? []);
  expect(details((await doctor(project)).findings)).toEqual(
    expect.arrayContaining([
      'manager.md: removes the line "(no tasks yet ...)", because there are tasks',
      'check.md: `working_dir` becomes `working-dir`',
      'check.md: {SHIFT:FOLDER}/ becomes {SHIFT:FOLDER}, which ends in a slash (2 places)',
      'check.md: create-page becomes create_page (5 places)',
    ]),
  );
  const { findings } = await doctor(project, '--fix');
  expect(project.read('.nightshift/old/manager.md')).toContain(
    '## Task Order\n\n\n1. create_page\n2. check\n\n## Progress\n',
  );
  expect(project.read('.nightshift/old/check.md')).toBe(
    ORIGIN_TASK.replace('working_dir', 'working-dir')
      .replaceAll('create-page', 'create_page')
      .replace('create_pages', 'create-pages')
      .replace('{SHIFT:FOLDER}/made', '{SHIFT:FOLDER}made')
      .replace('{SHIFT:FOLDER}//made', '{SHIFT:FOLDER}made'),
  );
  // What an earlier version put beside the folder, and what is not done as it was.
  const said = findings.filter(({ shift }: { shift?: string }) => shift === 'old');
  expect(said.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringMatching(/^0\/1 completed/),
    expect.stringContaining('`worktree` has no effect; `workspace` replaces it'),
    expect.stringMatching(/^oldplain\.txt in .*: written when \{SHIFT:FOLDER\} had no slash at its end$/),
  ]);
  const run = await project.run(['start', 'old']);
  expect([run.code, run.stdout]).toEqual([
    0,
    expect.stringContaining('`worktree` has no effect; `workspace` replaces it'),
  ]);
  const found = ['.nightshift/old/made.txt', '.nightshift/old/plain.txt', 'repos/a/here.txt'];
  expect(found.filter((file) => !project.exists(file))).toEqual([]);

  // A shift of 3.x that has just begun: no columns, no tasks.
  project.write('.nightshift/new/manager.md', manager(none).replace('name: old', 'name: new'));
  project.write('.nightshift/new/table.csv', '');
  await doctor(project, '--fix');
  expect(project.read('.nightshift/new/table.csv')).toBe('row\n');
  project.write('work.md', shellTask('true'));
  expect((await project.run(['add-task', 'new', 'work', '--from', 'work.md'])).code).toBe(0);
  expect(project.read('.nightshift/new/manager.md')).toContain('## Task Order\n\n1. work\n');
});

test('what only a person can decide is named, and nothing of that shift is changed; others are fixed', async () => {
  const project = new Project();
  olderShift(project);
  project.write('.nightshift/odd/manager.md', OLDER_MANAGER.replace('name: site', 'name: odd'));
  project.write('.nightshift/odd/table.csv', OLDER_TABLE.replace('in-progress', 'skipped'));
  project.write('.nightshift/odd/create-page.md', shellTask('true'));
  project.write('.nightshift/odd/create_page.md', shellTask('false'));
  project.write('.nightshift/odd/check.md', shellTask('true'));
  const before = bytes(project.path('.nightshift/odd'));
  const { code, findings } = await doctor(project, '--fix');
  expect(code).toBe(2);
  const details = findings
    .filter(({ shift }: { shift?: string }) => shift === 'odd')
    .flatMap((each: { details?: string[] }) => each.details ?? []);
  expect(details).toEqual([
    'there are both create-page.md and create_page.md',
    expect.stringMatching(/^row 2 has "skipped"/),
  ]);
  expect(bytes(project.path('.nightshift/odd'))).toEqual(before);
  expect(project.read('.nightshift/site/table.csv')).toContain('create_page');
});

test('a doctor that is killed leaves the shift as it was, or complete: the next one finishes it', async () => {
  const project = new Project();
  olderShift(project);
  const before = bytes(project.path('.nightshift/site'));
  for (const point of ['doctor:built', 'doctor:kept']) {
    const { signal } = await project.run(['doctor', '--fix'], { env: { NIGHTSHIFT_CRASH_AT: point } });
    expect(signal).toBe('SIGKILL');
    if (point === 'doctor:built') expect(bytes(project.path('.nightshift/site'))).toMatchObject(before);
  }
  expect(project.exists('.nightshift/site')).toBe(false);
  const found = await doctor(project);
  expect(found.findings).toContainEqual(expect.objectContaining({ shift: 'site', level: 'problem', fixable: true }));
  expect((await doctor(project, '--fix')).code).toBe(0);
  expect((await project.run(['start', 'site', '--dry-run'])).code).toBe(0);
  expect(readdirSync(project.path('.nightshift')).filter((name) => name.startsWith('.doctor'))).toEqual([]);
});

test('doctor finds what an interrupted run left and what is wrong with a shift, each with what to do; --fix puts right what it can', async () => {
  const project = new Project();
  const night = project.shift('night', {
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: agentTask() },
    settings: { parallel: true, paralel: true },
  });
  project.shift('broken', { table: 'name,work\na,todo,extra\n', tasks: { work: shellTask('true') } });
  project.shift('alone', {
    table: 'name,work\na,todo\n',
    tasks: { work: agentTask() },
    settings: { agent: 'command', command: 'no-such-program-here' },
  });
  project.write('.nightshift/alone/work.md', '## Configuration\n\n## Steps\n\n1. Do\n\n## Validation\n\n- Done\n');
  project.behave({ dev: { sleep: 60_000 } });
  const run = night.spawn();
  await until(() => project.calls().length === 2, 'both devs');
  const during = await doctor(project);
  expect(JSON.stringify(during.findings.filter(({ shift }: { shift?: string }) => shift === 'night'))).toContain(
    'running',
  );
  run.kill('SIGKILL');
  await run.ended;
  // Something that escaped: it carries the mark, and nobody ended it.
  const folder = project.path(night.folder);
  const stray = spawn('sleep', ['300'], { env: { ...process.env, NIGHTSHIFT_SHIFT_DIR: folder }, detached: true });
  onTestFinished(() => void stray.kill('SIGKILL'));
  await until(() => processesOf(folder).length === 1, 'only the stray');
  project.write(`${night.folder}/.table.csv.99.nightshift-tmp`, 'half');
  project.write(`${night.folder}/work.md.put-back-1`, 'theirs');

  const { code, stdout } = await project.run(['doctor']);
  expect(code).toBe(2);
  for (const line of [
    /^ok +Node \d/m,
    /^ok +locks work/m,
    /^ok +agent shell$/m,
    /^problem +night: 2 item-tasks in_progress, but the shift is not running\n +`nightshift start night`/m,
    /^problem +night: 1 process of an earlier run/m,
    /^problem +night: half-written files.*\n +- \.table\.csv\.99/m,
    /^note +night: edits that a run reverted.*\n +- work\.md\.put-back-1/m,
    /^note +night: unknown key `paralel`/m,
    /^problem +broken: .*\n +at .*broken\/table\.csv:2\n/m,
    /^problem +alone: the agent of work can't be started\n.*\n.*no-such-program-here/m,
    /^5 problems\. `nightshift doctor --fix` can fix 3 of them\.$/m,
  ]) {
    expect(stdout).toMatch(line);
  }
  const broken = project.read('.nightshift/broken/table.csv');
  const fixed = await doctor(project, '--fix');
  expect([fixed.code, fixed.problems, fixed.fixed.length]).toEqual([2, 2, 3]);
  expect(night.column('work')).toEqual(['todo', 'todo']);
  expect(processesOf(folder)).toEqual([]);
  expect(readdirSync(folder).filter((name) => name.endsWith('-tmp'))).toEqual([]);
  expect(project.exists(`${night.folder}/work.md.put-back-1`)).toBe(true);
  expect(project.read('.nightshift/broken/table.csv')).toBe(broken);
});

test('doctor sees secrets that git tracks or does not ignore, and where nothing is wrong it says so with exit 0', async () => {
  const project = new Project();
  const nothing = await doctor(project);
  expect([nothing.code, nothing.root]).toEqual([0, null]);
  const git = (...args: string[]) => execFileSync('git', ['-C', project.root, ...args], { stdio: 'ignore' });
  const parts = { table: 'name,work\na,todo\n', tasks: { work: shellTask('true') }, settings: { agent: 'shell' } };
  project.shift('night', { ...parts, env: 'KEY=hush-hush\n' });
  git('init', '-q');
  const open = await doctor(project);
  expect(open.code).toBe(2);
  expect(open.findings).toContainEqual(
    expect.objectContaining({ level: 'problem', file: '.nightshift/night/.env', fixable: true }),
  );
  const fixed = await doctor(project, '--fix');
  expect(fixed.code).toBe(0);
  for (const lost of ['.nightshift/night', '.nightshift/night/.env']) {
    expect(fixed.findings).toContainEqual(
      expect.objectContaining({ level: 'note', details: [lost], message: expect.stringContaining('`git clean -fdx`') }),
    );
  }
  git('add', '-f', '.nightshift/night/.env');
  const tracked = await project.run(['doctor']);
  expect(tracked.code).toBe(2);
  expect(tracked.stdout).toContain('`git rm --cached .nightshift/night/.env`');
  expect(tracked.stdout + JSON.stringify(await doctor(project))).not.toContain('hush-hush');
  renameSync(project.path('.git'), project.path('.not-git'));
  expect((await doctor(project)).code).toBe(0);
});

test('X5 says which agent programs are there, in which version, whether that was tested, and whether they are logged in', async () => {
  const project = new Project();
  const program = (name: string, script: string) => {
    project.write(`bin/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(project.path('bin', name), 0o755);
  };
  program(
    'claude',
    'case $1 in --version) echo "2.0.1 (Claude Code)";; auth) echo \'{"loggedIn": false}\'; exit 1;; esac',
  );
  program('codex', 'case $1 in --version) echo "codex-cli 0.166.0";; login) echo "Logged in using ChatGPT";; esac');
  const PATH = `${project.path('bin')}:/usr/bin:/bin`;
  const { code, stdout } = await project.run(['doctor'], { env: { PATH } });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^note +agent opencode: not installed\n +install it with `npm install -g opencode-ai`/m);
  expect(stdout).toMatch(/^note +agent claude 2\.0\.1 \(tested: 2\.1\.\d+\), not logged in\n +\S/m);
  expect(stdout).toMatch(/^ok +agent codex 0\.166\.0, logged in$/m);

  // Only a shift that would need the login has a problem.
  const parts = {
    table: 'name,work\na,todo\n',
    tasks: { work: task({ steps: '1. Do {name}', validation: '- It is done' }) },
  };
  project.shift('by-codex', { settings: { agent: 'codex' }, ...parts });
  expect((await project.run(['doctor'], { env: { PATH } })).code).toBe(0);
  project.shift('by-claude', { settings: { agent: 'claude' }, ...parts });
  const needed = await project.run(['doctor'], { env: { PATH } });
  expect(needed.code).toBe(2);
  expect(needed.stdout).toMatch(
    /^problem +by-claude: the agent claude of work can't be used\n +.*\n +claude is not logged in: .*claude auth login/m,
  );
  expect(needed.stdout).toMatch(/^1 problem\.$/m);
  const started = await project.run(['start', 'by-claude', '--dry-run'], { env: { PATH } });
  expect([started.code, started.stderr]).toEqual([6, expect.stringContaining('claude is not logged in')]);
  program('codex', 'case $1 in --version) echo "codex-cli 0.166.0";; login) exit 1;; esac');
  const both = await project.run(['doctor'], { env: { PATH, HOME: project.root } });
  expect(both.stdout).toMatch(/codex is not logged in: log in with `codex login`/);

  // A program that speaks ACP lists its models when a session is opened; nothing is asked of them.
  const models = {
    sessionId: 's',
    models: { currentModelId: 'here', availableModels: [{ modelId: 'here', name: 'Here' }] },
  };
  program(
    'acp',
    `while read -r line; do case $line in\n*initialize*) echo "$line" | sed 's/.*"id":\\([0-9]*\\).*/{"jsonrpc":"2.0","id":\\1,"result":{"protocolVersion":1}}/';;\n*session*new*) echo "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/' | { read -r id; echo '{"jsonrpc":"2.0","id":'"$id"',"result":${JSON.stringify(models)}}'; };;\n*prompt*) touch asked;; esac; done`,
  );
  project.shift('by-acp', { settings: { agent: 'acp', 'acp-command': 'acp', model: 'gone' }, ...parts });
  const acp = await project.run(['start', 'by-acp', '--dry-run'], { env: { PATH } });
  expect([acp.code, acp.stderr]).toEqual([
    6,
    expect.stringContaining('it has no model gone: correct `model:`; it has here'),
  ]);
  expect(project.exists('asked')).toBe(false);
});
