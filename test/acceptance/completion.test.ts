import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NIGHTSHIFT, Project, shellTask } from '../harness.ts';

/** What a shell does with the script and the words typed so far; it prints the candidates, one on a line. */
const ASK: Record<string, (words: readonly string[]) => string[]> = {
  bash: (words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `. ./script; COMP_WORDS=(nightshift ${quoted}); COMP_CWORD=${words.length}; _nightshift`;
    return ['-c', `${script}; printf '%s\\n' "\${COMPREPLY[@]}"`];
  },
  zsh: (words) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const stubs =
      'compdef() { :; }; _files() { print -l b*(N); }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }';
    return ['-fc', `${stubs}; . ./script; words=(nightshift ${quoted}); CURRENT=$#words; _nightshift`];
  },
  fish: (words) => ['-c', `source ./script; complete -C "nightshift ${words.join(' ')}"`],
};

function makeProject(): { project: Project; env: NodeJS.ProcessEnv } {
  const project = new Project();
  for (const name of ['night', 'noon']) {
    project.shift(name, {
      table: 'name,place,work,more\na,Rome,todo,todo\n',
      tasks: { work: shellTask('true'), more: shellTask('true') },
      settings: { agent: 'shell' },
    });
  }
  mkdirSync(project.path('.nightshift/$(touch pwned)`touch pwned`'));
  project.write('bin/nightshift', `#!/bin/sh\nexec '${process.execPath}' '${NIGHTSHIFT}' "$@"\n`);
  chmodSync(project.path('bin/nightshift'), 0o755);
  return { project, env: { ...process.env, PATH: `${project.path('bin')}:${process.env.PATH}`, HOME: project.root } };
}

type Case = [typed: string[], offered: string[]];

const CASES: readonly Case[] = [
  [
    ['start', 'night', '--task', ''],
    ['more', 'work'],
  ],
  [['start', 'night', '--json', '--wh'], ['--where']],
  [['show', 'noon', '1', 'w'], ['work']],
  [['workspaces', 'noon', ''], ['prune']],
  [['workspaces', 'p'], ['prune']],
  [
    ['table', 'night', 're'],
    ['remove', 'rename-column', 'reset'],
  ],
  [
    ['retry', '--agent', ''],
    ['acp', 'claude', 'codex', 'command', 'opencode', 'shell'],
  ],
  [['init', '--agent', 'c'], ['claude']],
  [['batch', 'o'], ['open']],
  [['batch', 'close', 'ni'], ['night']],
  [
    ['lessons', 'night', 'a'],
    ['accept', 'add'],
  ],
  [['create', 'x', '--lessons-from', 'ni'], ['night']],
  [
    ['create', 'x', '--example', 'tr'],
    ['translate-pages', 'triage-issues'],
  ],
  [['completion', 'z'], ['zsh']],
  [['no-such-command', ''], []],
];

/** Asked of the shell itself: it reads the words and adds file names. */
const IN_SHELL: readonly Case[] = [
  [['st'], ['start', 'status', 'steps', 'stop']],
  [
    ['start', ''],
    ['night', 'noon'],
  ],
  [['start', 'night', '--where', 'pl'], ['place=']],
  [
    ['create', 'x', '--from', 'b'],
    ['behaviour.json', 'bin'],
  ],
];

test('completion offers commands, flags, shifts, tasks, verbs and agents', async () => {
  const { project } = makeProject();
  for (const [typed, offered] of CASES) {
    const { code, stdout, stderr } = await project.run(['__complete', '--', ...typed]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    expect([typed, code, lines.sort(), stderr]).toEqual([typed, 0, offered, '']);
  }
});

/** Where a shell is not installed, its script is only looked at; bash, zsh and fish run it where they are. */
test.each(['bash', 'zsh', 'fish'])(
  'completion in %s offers what the program says, and runs nothing that a name holds',
  async (shell) => {
    const { project, env } = makeProject();
    project.behave({});
    const { code, stdout } = await project.run(['completion', shell]);
    expect(code).toBe(0);
    project.write('script', stdout);
    expect(stdout).toContain('nightshift __complete -- ');
    expect(stdout).not.toMatch(/compgen -W|\beval [^"]/);
    expect(stdout).toMatch(
      { bash: /complete -F _nightshift nightshift/, zsh: /^#compdef nightshift/, fish: /complete -c nightshift/ }[
        shell
      ]!,
    );
    if (spawnSync(shell, ['-c', 'true']).status !== 0) return;
    for (const [typed, offered] of IN_SHELL) {
      const asked = spawnSync(shell, ASK[shell]!(typed), { cwd: project.root, env, encoding: 'utf8' });
      const lines = asked.stdout.split('\n').map((line) => line.split('\t')[0]!.replace(/\/$/, ''));
      expect([typed, lines.filter((line) => line !== '').sort(), asked.stderr]).toEqual([typed, offered, '']);
    }
    expect(project.exists('pwned')).toBe(false);
  },
);

test('what shells ask never fails: wrong words and broken shifts give fewer candidates, and nothing on standard error', async () => {
  const { project } = makeProject();
  project.write('.nightshift/noon/manager.md', 'broken');
  project.write('.nightshift/night/table.csv', 'a,a\n"');
  for (const [words, offered] of [
    [['start', 'noon', '--task', ''], 'more\nwork\n'],
    [['table', 'night', 'search', '--select', ''], ''],
    [['start', 'nobody', '--task', ''], ''],
    [[], null],
  ] as const) {
    const { code, stdout, stderr } = await project.run(['__complete', '--', ...words]);
    expect([words, code, stderr]).toEqual([words, 0, '']);
    if (offered !== null) expect(stdout).toBe(offered);
  }
  const { stdout } = await project.run(['__complete', '--', ''], { cwd: '/' });
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['start', 'doctor', 'export', 'retry', 'completion']));
  expect(stdout).not.toContain('__');
});

test('nightshift alone says what is there, how far it is, and what to do next, with exit 0', async () => {
  const project = new Project();
  const alone = async () => (await project.run([])).stdout;
  expect(await project.run([])).toMatchObject({ code: 0, stderr: '' });
  expect(await alone()).toMatch(
    /There is no shift[\s\S]*nightshift demo[\s\S]*nightshift each FILE[\s\S]*nightshift create NAME/,
  );
  const parts = (statuses: string[]) => ({
    table: `name,work\n${statuses.map((status, i) => `n${i},${status}\n`).join('')}`,
    tasks: { work: shellTask('until test -e go; do sleep 0.1; done') },
    settings: { agent: 'shell' },
  });
  const begun = project.shift('begun', parts(['done', 'todo', 'failed']));
  project.shift('ended', parts(['done', 'done']));
  project.shift('worse', parts(['done', 'failed']));
  // Only four get a suggestion: finished shifts come last.
  for (const name of ['ended-2', 'ended-3']) project.shift(name, parts(['done']));
  expect(await alone()).toMatch(/begun +1\/3 completed, 1 failed\n/);
  for (const next of ['nightshift start begun', 'nightshift archive ended', 'nightshift status worse']) {
    expect(await alone()).toContain(next);
  }
  const run = begun.launch();
  await run.seen('dev:started');
  expect(await alone()).toMatch(/begun +1\/3 completed, 1 failed, running[\s\S]*nightshift status begun/);
  project.write('go', '');
  await run.ended;
  project.shift('broken', parts(['maybe']));
  expect(await alone()).toContain('nightshift doctor');
  const { code, stdout } = await project.run(['--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    root: project.root,
    shifts: [{ name: 'begun' }, { name: 'broken' }, {}, {}, {}, {}],
  });
});

test('a mistyped command, flag, shift, task, column, verb, agent or shell: the error names the nearest', async () => {
  const { project } = makeProject();
  for (const [args, near] of [
    [['statsu'], 'status'],
    [['start', 'night', '--tsk', 'work'], '--task'],
    [['start', 'nigth'], 'night'],
    [['retry', 'nigth'], 'night'],
    [['export', 'nigth', '--csv', '-'], 'night'],
    [['start', 'night', '--task', 'wrok'], 'work'],
    [['show', 'night', '1', 'wrok'], 'work'],
    [['start', 'night', '--where', 'plaec=Rome'], 'place'],
    [['start', 'night', '--agent', 'shel'], 'shell'],
    [['create', 'new', '--agent', 'shel'], 'shell'],
    [['table', 'night', 'serach'], 'search'],
    [['table', 'night', 'show', '--status', 'doen'], 'done'],
    [['completion', 'bahs'], 'bash'],
  ] as const) {
    const { code, stderr } = await project.run(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(`did you mean ${near}?`)]);
  }
});
