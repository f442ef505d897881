import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { workspaceGit } from './workspace-git.ts';

const { signal } = new AbortController();

test('S13 W4 git uses the configuration of the start of the run, credentials only for remotes, and no more time than it has', async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-git-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const root = join(home, 'project');
  mkdirSync(join(root, 'bin'), { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', root]);
  execFileSync('git', ['-C', root, 'config', 'alias.env', '!env']);
  // A program of the project that is called git.
  writeFileSync(join(root, 'bin', 'git'), `#!/bin/sh\ntouch ${home}/evil\n`);
  chmodSync(join(root, 'bin', 'git'), 0o755);
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = "Ada; \\"#1\\""\n');
  const caller = {
    PATH: `${root}/bin:${process.env.PATH}`,
    HOME: home,
    GIT_DIR: '/nowhere',
    GIT_ASKPASS: '/bin/ask',
    GH_TOKEN: 'token',
  };
  const git = workspaceGit({ root, copies: join(home, 'copies'), world: { cwd: root, env: caller, now: () => 0 } });
  const ask = async (args: string[], more: { isRemote?: true; readsConfiguration?: true; input?: string } = {}) => {
    const result = await git.run({ folder: root, args, signal, ...more });
    return result.kind === 'done' ? result.text.trim() : result;
  };
  expect(await ask(['config', 'user.name'])).toBe('Ada; "#1"');
  writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Mallory\n');
  expect(await ask(['config', 'user.name'])).toBe('Ada; "#1"');
  expect(await ask(['config', 'user.name'], { readsConfiguration: true })).toBe('Mallory');
  const seen = (await ask(['env'])) as string;
  expect(seen).not.toMatch(/^(GH_TOKEN|GIT_ASKPASS)=/m);
  expect(await ask(['env'], { isRemote: true })).toMatch(/^GH_TOKEN=token$/m);
  expect(await ask(['env'], { isRemote: true })).toMatch(/^GIT_ASKPASS=\/bin\/ask$/m);
  const slow = await git.run({ folder: root, args: ['-c', 'alias.wait=!sleep 1000', 'wait'], signal, withinMs: 1 });
  expect(slow).toEqual({ kind: 'not-run', reason: 'git took too long and was ended' });
  expect(await ask(['hash-object', '--stdin'], { input: '' })).toMatch(/^e69de29/);
  // An agent makes the repository partial: git would fetch a missing commit with this program.
  const partial = { url: root, promisor: 'true', uploadpack: `touch ${home}/evil; git-upload-pack` };
  for (const [key, value] of Object.entries(partial)) await ask(['config', `remote.agent.${key}`, value]);
  await ask(['config', 'core.repositoryFormatVersion', '1']);
  await ask(['config', 'extensions.partialClone', 'agent']);
  writeFileSync(join(root, '.git', 'refs', 'heads', 'missing'), `${'12'.repeat(20)}\n`);
  expect(await ask(['rev-parse', '--verify', 'missing^{commit}'])).toMatchObject({ kind: 'refused' });
  expect(await ask(['rev-parse', '--verify', 'HEAD'])).toMatchObject({ kind: 'refused', code: 128 });
  expect(await ask(['rev-parse', '--show-toplevel'])).toBe(root);
  expect(() => execFileSync('ls', [join(home, 'evil')], { stdio: 'ignore' })).toThrow();
});
