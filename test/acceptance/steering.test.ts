import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agentTask, Project } from '../harness.ts';

test('O2 batch close reports what steers agents or git and was changed meanwhile, but not what init wrote', async () => {
  const project = new Project();
  project.shift('site', { table: 'name,draft\na,todo\n', tasks: { draft: agentTask() } });
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  mkdirSync(project.path('home'));
  const env = { HOME: project.path('home'), XDG_CONFIG_HOME: '' };
  const run = (...words: string[]) => project.run(words, { env });
  await run('init');
  await run('batch', 'open', 'site');
  const calm = await run('batch', 'close', 'site', '--give-back', '--json');
  expect(calm.stderr).not.toContain('steer');
  expect(JSON.parse(calm.stdout)).not.toHaveProperty('changed');

  await run('batch', 'open', 'site');
  project.write('.opencode/plugin/made.js', 'x');
  project.write('.opencode/node_modules/made.js', 'x');
  project.write('.opencode/agent/nightshift-dev.md', 'bash: allow\n');
  rmSync(project.path('.opencode/plugin/nightshift.js'));
  project.write('opencode.json', '{}');
  project.write('.git/hooks/pre-commit', 'x');
  project.write('home/.gitconfig', 'x');
  project.write('src/made.js', 'x');
  execFileSync('git', ['config', 'core.hooksPath', 'hooks'], { cwd: project.root });
  project.write('hooks/post-checkout', 'x');
  await run('init', '--agent', 'claude');
  // Also by whoever takes it over.
  await run('batch', 'open', 'site', '--take-over');
  const { stdout, stderr } = await run('batch', 'close', 'site', '--give-back', '--json');
  const changed = [
    // Not a file of its own: others write there too.
    '.claude/settings.json (new)',
    '.git/config (changed)',
    '.git/hooks/pre-commit (new)',
    '.opencode/agent/nightshift-dev.md (changed)',
    '.opencode/plugin/made.js (new)',
    '.opencode/plugin/nightshift.js (removed)',
    'home/.gitconfig (new)',
    'hooks/post-checkout (new)',
    'opencode.json (new)',
  ];
  expect(JSON.parse(stdout).changed).toEqual(changed);
  expect(stderr).toContain(
    `files that configure agents or git changed while the batch was open: ${changed.join(', ')};`,
  );
});
