import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project } from '../harness.ts';

const AGENTS = ['manager', 'dev', 'qa'].map((name) => `nightshift-${name}`);
const COMMANDS = ['create', 'add-task', 'update-table', 'start', 'test-task', 'archive'].map(
  (name) => `nightshift-${name}`,
);

/** What the first plugin imports. */
const GUARD = ['rules', 'places', 'plain-line', 'open-shell', 'real-path'];

test.each([
  [
    'opencode',
    [],
    AGENTS.map((name) => `.opencode/agent/${name}.md`),
    [
      ...COMMANDS.map((name) => `.opencode/command/${name}.md`),
      '.opencode/plugin/nightshift.js',
      '.opencode/plugin/nightshift-session.js',
      '.opencode/plugin/nightshift-tools.js',
      ...GUARD.map((name) => `.opencode/plugin/nightshift-guard/${name}.js`),
    ],
  ],
  [
    'claude',
    ['--agent', 'claude'],
    AGENTS.map((name) => `.claude/agents/${name}.md`),
    COMMANDS.map((name) => `.claude/skills/${name}/SKILL.md`),
  ],
])(
  'O1 init writes the agents and commands for %s, brings them up to date and takes them away',
  async (_, flags, agents, commands) => {
    const project = new Project();
    const files = [...agents, ...commands];
    const first = await project.run(['init', ...flags]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.match(/^written .*/gm)).toEqual(files.map((file) => `written ${file}`));
    for (const file of files) {
      expect(project.read(file)).toMatch(
        file.endsWith('.js') ? /^(\/\/ A plugin|\/\*\*|import) ?/ : /^---\n(name|description): /,
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
