import { expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import type { Shift } from '../core/model/shift.ts';
import { compileShift } from './compile.ts';
import { parseManager } from './manager.ts';
import { parseTask } from './task.ts';

const HEADER = ['name', 'url', 'a', 'b'];

/** A shift with the tasks `a` and `b`, and these lines in its Configurations. */
function compile(shared: string, ofA = '', ofB = ''): Shift {
  const task = (name: string, lines: string) => {
    const text = `## Configuration\n\n${lines}\n\n## Steps\n\n1. Do it\n\n## Validation\n\n- Done\n`;
    return { name, file: `${name}.md`, document: parseTask(text, `${name}.md`) };
  };
  const manager = `## Shift Configuration\n\n${shared}\n\n## Task Order\n\n1. a\n2. b\n`;
  return compileShift(
    {
      ...{ name: 's', root: '/p', folder: '/p/.nightshift/s', table: '/p/.nightshift/s/table.csv' },
      managerFile: 'manager.md',
      manager: parseManager(manager, 'manager.md'),
      tasks: [task('a', ofA), task('b', ofB)],
      secrets: new Map([['TOKEN', 'x']]),
    },
    HEADER,
  );
}

/** `message (file line)`, and the hint. */
function refusal(...lines: [string, string?, string?]): [string, string] {
  try {
    compile(...lines);
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return [`${error.message} (${error.file} ${error.line})`, error.hint ?? ''];
  }
  throw new Error('it was accepted');
}

const column = (name: string) => ({ kind: 'column', name });

test('W1 all settings of a workspace, with their placeholders', () => {
  const { workspace, tasks, warnings } = compile(
    `- workspace: clone
- repo: https://host/{url}.git
- base: main
- branch: fix/{name}
- include: ./.env.local, link:node_modules/, cache/*.bin
- setup: npm ci --prefix {name}
- workspaces-dir: ~/spaces
- deliver: pr
- into: {name}-next
- deliver-when: approved
- max-deliveries: 5
- author: {name} <a@b.c>
- message: Fix {name}: {title}
- pr-title: {title}
- pr-body:

  ~~~markdown
  Closes {url}.

  See {title}
  ~~~
- pr-command:
  ~~~bash
  max_tokens=9 open-pr "{title}"
  ~~~
- sandbox: offline
- max-files: 3`,
    '- outputs: title',
    '- outputs: note, branch, pr_url\n- allow-paths: src/**, *.md\n- deny-paths: src/x\n- max-lines: 20\n- sandbox: true',
  );
  expect(workspace).toMatchObject({
    kind: 'clone',
    repo: { segments: ['https://host/', column('url'), '.git'] },
    base: { segments: ['main'] },
    branch: { segments: ['fix/', column('name')] },
    include: [
      { path: '.env.local', isLink: false },
      { path: 'node_modules', isLink: true },
      { path: 'cache/*.bin', isLink: false },
    ],
    setup: { parts: ['npm ci --prefix ', { placeholder: column('name') }, ''], line: 8 },
    folder: '~/spaces',
    delivery: {
      kind: 'pr',
      into: { segments: [column('name'), '-next'] },
      when: 'approved',
      most: 5,
      author: { segments: [column('name'), ' <a@b.c>'] },
      message: { segments: ['Fix ', column('name'), ': ', column('title')] },
      title: { segments: [column('title')] },
      body: { segments: ['Closes ', column('url'), '.\n\nSee ', column('title'), '\n'] },
      prCommand: { shell: 'bash', line: 26 },
    },
  });
  expect(warnings).toEqual([]);
  expect(tasks.map(({ hasWorkspace, settings }) => [hasWorkspace, settings.sandbox, settings.changeLimits])).toEqual([
    [true, 'offline', { allow: [], deny: [], maxFiles: 3 }],
    [true, 'on', { allow: ['src/**', '*.md'], deny: ['src/x'], maxFiles: 3, maxLines: 20 }],
  ]);
});

test('W1 without a workspace nothing changes; a task may stay out of it', () => {
  const plain = compile('- workspace: shared\n- parallel: true\n- deliver: none');
  expect([plain.workspace, plain.warnings]).toEqual([undefined, []]);
  expect(plain.tasks.map(({ hasWorkspace, settings }) => [hasWorkspace, settings.sandbox])).toEqual([
    [false, 'off'],
    [false, 'off'],
  ]);
  const one = compile('- workspace: worktree\n- deliver: push', '- workspace: shared\n- outputs: branch');
  expect(one.tasks.map(({ hasWorkspace }) => hasWorkspace)).toEqual([false, true]);
  expect(one.workspace).toEqual({ kind: 'worktree', include: [], delivery: { kind: 'push', when: 'done' } });
  const ofTask = compile('', '- workspace: copy\n- deliver: patch\n- max-files: 1');
  expect([ofTask.workspace?.kind, ofTask.tasks.map(({ hasWorkspace }) => hasWorkspace)]).toEqual([
    'copy',
    [true, false],
  ]);
});

test.each(['https://{ENV:TOKEN}@host/{url}.git', 'https://me:p4ss@host/x.git', 'https://{name}@host/x', '{ENV:TOKEN}'])(
  'S4 W1 repo: %s is refused, without its value, and says how git logs in',
  (repo) => {
    const [found, hint] = refusal(`- workspace: clone\n- repo: ${repo}`);
    expect(found).toBe('`repo` has a login in its address, which agents could read (manager.md 4)');
    expect(hint).toContain('credential helper');
    const elsewhere = refusal(`- workspace: worktree\n- repo: ${repo}`)[0];
    expect(elsewhere).toContain('needs `workspace: clone`');
    expect(elsewhere).not.toMatch(/p4ss|me:/);
  },
);

const WORKTREE = '- workspace: worktree\n';
const PR = `${WORKTREE}- deliver: pr\n`;
const CLONE = '- workspace: clone\n- repo: /r\n';

test.each<[string, string, string?, string?]>([
  ['`workspace: wortree` is not one of shared, none, worktree, clone, copy (manager.md 3)', '- workspace: wortree'],
  ['`deliver: prs` is not one of none, branch, merge, push, pr, patch (a.md 3)', WORKTREE, '- deliver: prs'],
  ['`deliver-when: now` is not one of done, approved (manager.md 5)', `${PR}- deliver-when: now`],
  ['`sandbox: yes` is not one of true, false, offline (b.md 3)', '', '', '- sandbox: yes'],
  ['`workspace: clone` needs `repo` (manager.md 3)', '- workspace: clone'],
  ['`repo: /r` needs `workspace: clone` (manager.md 4)', `${WORKTREE}- repo: /r`],
  ['`repo: /r` needs a workspace (manager.md 3)', '- repo: /r'],
  ['`deliver: pr` needs a workspace (manager.md 3)', '- deliver: pr'],
  ['`deliver: pr` needs a workspace (a.md 4)', WORKTREE, '- workspace: shared\n- deliver: pr'],
  ['`setup` needs a workspace (a.md 3)', '', '- setup:\n  ~~~sh\n  true\n  ~~~'],
  ['`max-files: 3` needs a workspace (manager.md 3)', '- max-files: 3'],
  ['`allow-paths: a/**` needs a workspace (b.md 3)', '', WORKTREE, '- allow-paths: a/**'],
  ['`deliver` is `pr` for a and not set for b, in one workspace (a.md 3)', WORKTREE, '- deliver: pr'],
  ['`workspace` is `worktree` for a and `copy` for b, in one workspace (b.md 3)', WORKTREE, '', '- workspace: copy'],
  [
    '`setup` is `x` for a and another block for b, in one workspace (b.md 3)',
    `${WORKTREE}- setup: x`,
    '',
    '- setup:\n  ~~~sh\n  y\n  ~~~',
  ],
  ['`into: x` has no meaning with `deliver: push` (manager.md 5)', `${WORKTREE}- deliver: push\n- into: x`],
  ['`deny-paths: ../x` leads out of the workspace (b.md 3)', WORKTREE, '', '- deny-paths: a, ../x'],
  ['`allow-paths: /x` leads out of the workspace (manager.md 4)', `${WORKTREE}- allow-paths: /x`],
  ['`max-files: 0` is not a positive number (manager.md 4)', `${WORKTREE}- max-files: 0`],
  ['`max-lines: few` is not a positive number (manager.md 4)', `${WORKTREE}- max-lines: few`],
  ['`max-deliveries: -1` is not a positive number (manager.md 5)', `${PR}- max-deliveries: -1`],
  ['`max-deliveries` is a setting of the shift, not of a task (a.md 3)', PR, '- max-deliveries: 1'],
  ['`include: link:../x` leads out of the repository (manager.md 4)', `${WORKTREE}- include: a, link:../x`],
  ["`include: .git/config` is git's own folder (manager.md 4)", `${WORKTREE}- include: .git/config`],
  ['`include: link:` names no file (manager.md 4)', `${WORKTREE}- include: link:`],
  ['`branch: a {name}` is no name for a branch: it has a space in it (manager.md 4)', `${WORKTREE}- branch: a {name}`],
  ['`branch: fix` is the same branch for every row (manager.md 4)', `${WORKTREE}- branch: fix`],
  ['`branch: fix` is the same branch for every row (manager.md 5)', `${CLONE}- branch: fix`],
  ['`into: a..b` is no name for a branch: it has ".." in it (manager.md 5)', `${PR}- into: a..b`],
  ['`message: {ENV:TOKEN}` would publish a secret (manager.md 5)', `${PR}- message: {ENV:TOKEN}`],
  ['`author: Ann` is no author for git (manager.md 5)', `${PR}- author: Ann`],
  ['`setup: x` has a value and a block below it (manager.md 4)', `${WORKTREE}- setup: x\n  ~~~sh\n  y\n  ~~~`],
  ['`setup` has a ```zsh block, which would not run (manager.md 4)', `${WORKTREE}- setup:\n  ~~~zsh\n  y\n  ~~~`],
  [
    '`branch: {name}` needs a git repository, and `workspace: copy` has none (manager.md 4)',
    '- workspace: copy\n- branch: {name}',
  ],
  [
    '`deliver: merge` needs a git repository, and `workspace: copy` has none (manager.md 4)',
    '- workspace: copy\n- deliver: merge',
  ],
  ['`deny-path` is not a key, so nothing is limited (b.md 3)', WORKTREE, '', '- deny-path: x'],
  ['`max_files` is not a key, so nothing is limited (manager.md 3)', '- max_files: 3'],
  ['`sandbx` is not a key, so nothing is limited (manager.md 3)', '- sandbx: true'],
  ['{nam}: the table has no such column (a.md 3)', WORKTREE, '- allow-paths: src/{nam}/**'],
  ['`deny-paths: {SHIFT:FOLDER}x` names more than columns (a.md 3)', WORKTREE, '- deny-paths: {SHIFT:FOLDER}x'],
  ['`worktree: true` is not a setting any more (b.md 3)', '', '', '- worktree: true'],
  ['{nam}: the table has no such column (manager.md 4)', `${WORKTREE}- base: {nam}`],
  ['{t}: a itself fills this column (manager.md 4)', `${WORKTREE}- base: {t}`, '- outputs: t'],
  ['{t}: this column is filled by b, which comes later (a.md 5)', '', `${PR}- message: {t}`, '- outputs: t'],
  [
    '{pr_url}: the delivery fills this column, after the last task has passed (manager.md 5)',
    `${PR}- message: {pr_url}`,
    '',
    '- outputs: pr_url',
  ],
  ['the output branch of a is known only after b, the last task in the workspace (a.md 3)', PR, '- outputs: x, branch'],
  [
    'the output pr_url is only known with `deliver: pr` (b.md 3)',
    `${WORKTREE}- deliver: merge`,
    '',
    '- outputs: pr_url',
  ],
])('W1 %s', (message, ...lines) => {
  const [found, hint] = refusal(...lines);
  expect(found).toBe(message);
  expect(hint).not.toBe('');
});

test.each([
  ['- workspace: wortree', 'did you mean `workspace: worktree`?'],
  ['- deliver: brnach', 'did you mean `deliver: branch`?'],
  ['- worktree: true', 'write `- workspace: worktree`'],
])('W1 %s: %s', (line, hint) => {
  expect(refusal(line)[1]).toBe(hint);
});

test('W1 a setting without effect is a warning, and so is the older key', () => {
  const warnings = (shared: string) => compile(shared).warnings;
  expect(warnings('- worktree: false')).toEqual([
    '`worktree` has no effect; `workspace` replaces it (manager.md line 3)',
  ]);
  expect(warnings('- author: Ann\n- workspaces-dir: x')).toEqual([
    '`author` has no effect without a workspace (manager.md line 3)',
    '`workspaces-dir` has no effect without a workspace (manager.md line 4)',
  ]);
  expect(warnings('- workspace: worktree\n- message: x\n- pr-body: y')).toEqual([
    '`message` has no effect without `deliver` (manager.md line 4)',
    '`pr-body` has no effect without `deliver: pr` (manager.md line 5)',
  ]);
});

test('W1 one branch name for every row is fine if each row has a repository of its own', () => {
  const shift = compile('- workspace: clone\n- repo: {url}\n- branch: upgrade\n- deliver: push');
  expect(shift.workspace?.branch).toEqual({ segments: ['upgrade'] });
});

test.each([
  ['in a shared folder', '- parallel: true', '- tools: alpha, bash', 1],
  ['one item at a time', '- parallel: false', '- tools: alpha', 0],
  ['without an MCP server', '- parallel: true', '- tools: bash', 0],
  ['with an agent that starts its own', '- parallel: true', '- tools: alpha\n- agent: claude', 0],
  ['in folders of their own', '- parallel: true', '- tools: alpha\n- working-dir: {name}', 0],
  ['in workspaces', '- parallel: true\n- workspace: worktree', '- tools: alpha', 0],
])('W5 items at once that share an MCP server are a warning: %s', (_, shared, ofA, count) => {
  const warning =
    'a: several items at once use the MCP server alpha in one folder; for a browser or another server with state, ' +
    '`workspace: worktree` gives each row its own';
  expect(compile(shared, ofA).warnings).toEqual(Array(count).fill(warning));
});

test('W5 items at once with a browser in one folder are a warning with every agent', () => {
  const { warnings } = compile('- parallel: true', '- tools: alpha, playwright, bash\n- agent: claude');
  expect(warnings).toEqual([expect.stringContaining('use the MCP server playwright in one folder')]);
});
