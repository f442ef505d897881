import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { onPath, Project } from '../harness.ts';

const AGENTS = ['manager', 'dev', 'qa'].map((name) => `nightshift-${name}`);
const COMMANDS = ['create', 'add-task', 'update-table', 'start', 'test-task', 'archive'].map(
  (name) => `nightshift-${name}`,
);

/** What the first plugin imports. */
const GUARD = ['rules', 'places', 'plain-line', 'open-shell', 'globs', 'real-path', 'task-tools'];

test.each([
  [
    'opencode',
    [],
    AGENTS.map((name) => `.opencode/agent/${name}.md`),
    [
      ...COMMANDS.map((name) => `.opencode/command/${name}.md`),
      '.opencode/plugin/nightshift.js',
      '.opencode/plugin/nightshift-tools.js',
      '.opencode/plugin/nightshift-session.js',
      ...GUARD.map((name) => `.opencode/plugin/nightshift-guard/${name}.js`),
    ],
  ],
  [
    'claude',
    ['--agent', 'claude'],
    AGENTS.map((name) => `.claude/agents/${name}.md`),
    [...COMMANDS.map((name) => `.claude/skills/${name}/SKILL.md`), '.claude/settings.json'],
  ],
])(
  'O1 init writes the agents and commands for %s, brings them up to date and takes them away',
  async (_, flags, agents, commands) => {
    const project = new Project();
    const files = [...agents, ...commands];
    const first = await project.run(['init', ...flags], { env: onPath(project) });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.match(/^written .*/gm)).toEqual(files.map((file) => `written ${file}`));
    for (const file of files.filter((each) => !each.endsWith('.json'))) {
      expect(project.read(file)).toMatch(
        file.endsWith('.js') ? /^(\/\/ An OpenCode plugin|\/\*\*|import) ?/ : /^---\n(name|description): /,
      );
    }

    expect((await project.run(['init', ...flags])).stdout).toContain(`${files.length} files up to date\n`);
    // An older version of ours is replaced; what a person edited or wrote is not.
    const [ours, edited, theirs] = files as [string, string, string];
    const text = project.read(ours);
    const [, body, hash] = /^(.*)\n<!-- .*sha256: (\w+) -->\n$/s.exec(text)!;
    const older = body!.replace('You', 'Thou');
    const { createHash } = await import('node:crypto');
    const olderHash = createHash('sha256').update(older).digest('hex');
    project.write(ours, text.replace(body!, older).replace(hash!, olderHash));
    project.write(edited, project.read(edited).replace('You', 'We'));
    project.write(theirs, 'my own\n');
    const again = await project.run(['init', ...flags]);
    expect(again.stdout).toContain(`updated ${ours}\n${files.length - 3} files up to date\n`);
    expect(again.stderr.match(/left alone: \S+/g)).toEqual([`left alone: ${edited}`, `left alone: ${theirs}`]);
    expect(project.read(ours)).toBe(text);
    expect(project.read(edited)).toContain('We');
    expect(project.read(theirs)).toBe('my own\n');

    const removed = await project.run(['init', ...flags, '--remove']);
    expect(removed.stdout.match(/^removed /gm)).toHaveLength(files.length - 2);
    expect(files.filter((file) => project.exists(file))).toEqual([edited, theirs]);
    await project.run(['init', ...flags, '--force']);
    expect(project.read(theirs)).not.toBe('my own\n');
    await project.run(['init', ...flags, '--remove']);
    expect([project.exists('.opencode'), project.exists('.claude'), project.exists('.nightshift')]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await project.run(['init', ...flags, '--remove'])).stdout).toBe('There was nothing to remove.\n');
  },
);

test('O1 init follows no link, and another program is an error that names the known ones', async () => {
  const project = new Project();
  project.write('elsewhere.md', 'my own\n');
  project.write('.opencode/agent/x', '');
  symlinkSync(project.path('elsewhere.md'), project.path('.opencode/agent/nightshift-dev.md'));
  expect((await project.run(['init'])).stderr).toContain('left alone: .opencode/agent/nightshift-dev.md');
  expect(project.read('elsewhere.md')).toBe('my own\n');
  const wrong = await project.run(['init', '--agent', 'claud']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean claude?')]);
});

test("O1 init shows what it adds to a person's settings of Claude Code, and takes out nothing else", async () => {
  const project = new Project();
  const theirs = '{"model":"opus", "hooks": {"Stop": []}}\n';
  project.write('.claude/settings.json', theirs);
  chmodSync(project.path('.claude/settings.json'), 0o600);
  const claude = ['init', '--agent', 'claude'];
  const first = await project.run(claude);
  const shown = first.stdout.split('written ')[0]!;
  expect(shown).toMatch(/^\.claude\/settings\.json gets these entries/);
  expect(shown).toContain('\n  permissions.allow: Bash(nightshift status *)\n');
  expect(first.stdout).toContain('\nupdated .claude/settings.json\n');
  const settings = JSON.parse(project.read('.claude/settings.json'));
  expect(settings).toMatchObject({ model: 'opus', permissions: { allow: ['Bash(nightshift status *)'] } });
  expect(Object.keys(settings.hooks)).toEqual(['Stop', 'PreToolUse', 'PostToolUse', 'SessionStart']);
  expect((await project.run(claude)).stdout).not.toContain('gets these entries');
  expect((await project.run([...claude, '--remove'])).stdout).toContain('updated .claude/settings.json');
  expect(project.read('.claude/settings.json')).toBe(theirs);
  expect(statSync(project.path('.claude/settings.json')).mode & 0o777).toBe(0o600);

  project.write('.claude/settings.json', '{\n  "model": opus\n}\n');
  for (const flags of [[], ['--remove'], ['--force']]) {
    const { code, stderr } = await project.run([...claude, ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/settings\.json was left as it is.*it is not JSON/)]);
  }
  expect(project.read('.claude/settings.json')).toBe('{\n  "model": opus\n}\n');
  expect(project.exists('.claude/agents')).toBe(false);
  rmSync(project.path('.claude/settings.json'));
  project.write('elsewhere.json', '{}');
  symlinkSync(project.path('elsewhere.json'), project.path('.claude/settings.json'));
  expect((await project.run(claude)).stderr).toContain('it is a link');
  expect(project.read('elsewhere.json')).toBe('{}');
});

test('O2 the hook looks only at the three agents, and refuses them what it can not check', async () => {
  const project = new Project();
  await project.run(['init', '--agent', 'claude']);
  const { hooks } = JSON.parse(project.read('.claude/settings.json'));
  const [{ command }] = hooks.PreToolUse[0].hooks as [{ command: string }];
  const runHook = (input: object) =>
    spawnSync('sh', ['-c', command], {
      input: JSON.stringify(input),
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
  const call = { tool_name: 'Agent', tool_input: { prompt: '"agent_type":"nightshift-dev"' } };
  for (const agent of ['nightshift-dev', 'nightshift-qa', 'nightshift:manager']) {
    const { status, stderr } = runHook({ agent_type: agent, ...call });
    expect([status, stderr]).toEqual([2, expect.stringContaining('Nightshift could not check this')]);
  }
  for (const input of [call, { agent_type: 'nightshift-reviewer', ...call }, { agent_type: 'Explore', ...call }]) {
    expect(runHook(input)).toMatchObject({ status: 0, stdout: '', stderr: '' });
  }
  const told = await project.run(['hook', 'opencode']);
  expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('write `nightshift hook claude`')]);
});

test('O1 init makes the archive, ignores what qsv leaves, and says when nightshift is not on the PATH', async () => {
  const project = new Project();
  const before = await project.run(['init', '--json'], { env: { PATH: '/nowhere' } });
  expect(before.stderr).toMatch(
    /^warning: `nightshift` is not on your PATH, so the agents and commands can't run it\n {2}`npm link` in \/.+ puts it there\n$/,
  );
  expect(JSON.parse(before.stdout).files).not.toHaveLength(0);
  expect(readdirSync(project.path('.nightshift'))).toEqual(['.gitignore', 'archive']);
  expect(project.read('.nightshift/.gitignore').split('\n')).toContain('table.csv.bak');
  expect((await project.run(['init'], { env: onPath(project) })).stderr).toBe('');
  // One that was made before today gets what it lacks, and keeps its own lines.
  project.write('.nightshift/.gitignore', 'mine\n.env\n');
  rmdirSync(project.path('.nightshift/archive'));
  await project.run(['init']);
  expect(project.read('.nightshift/.gitignore')).toMatch(
    /^mine\n\.env\n(.*\n)*table\.csv\.bak\n(.*\n)*report\.html\n(.*\n)*$/,
  );
  expect(project.exists('.nightshift/archive')).toBe(true);
});

test('O1 init writes a plugin for Claude Code to a folder of its own, and over nothing else', async () => {
  const project = new Project();
  const plugin = ['init', '--agent', 'claude', '--plugin'];
  for (const _ of [1, 2]) expect(await project.run([...plugin, 'made'])).toMatchObject({ code: 0, stderr: '' });
  expect([project.exists('.claude'), project.exists('.nightshift')]).toEqual([false, false]);
  expect(JSON.parse(project.read('made/.claude-plugin/plugin.json'))).toMatchObject({ name: 'nightshift' });
  const texts = ['agents/manager.md', 'skills/start/SKILL.md', 'skills/create/SKILL.md'].map((file) =>
    project.read(`made/${file}`),
  );
  expect(texts.join('\n')).toContain('/nightshift:add-task');
  expect(texts.join('\n')).toContain('`nightshift:dev` or `nightshift:qa`');
  expect(texts.join('\n')).not.toMatch(/nightshift-(manager|dev|qa|add-task)/);
  project.write('theirs/notes.md', 'my own\n');
  expect((await project.run([...plugin, 'theirs'])).stderr).toContain('theirs has other content');
  expect((await project.run(['init', '--plugin', 'made'])).stderr).toContain('--plugin is for Claude Code');
});
