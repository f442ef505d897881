import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

const BRANCHES = 'refs/heads/nightshift/upgrade';

/** What an agent writes into the settings of the repository; `$EVIL` is a program. */
const SETTINGS: [string, string][] = [
  ['nothing that git can read', 'echo "[[[" >> "$CONFIG"'],
  ['a format that git does not know', 'git config core.repositoryFormatVersion 99'],
  ['another kind of objects', 'git config core.repositoryFormatVersion 1; git config extensions.objectFormat sha256'],
  ['another place for its files', 'git config core.worktree /nowhere; git config core.bare true'],
  ['a file to include that is broken', 'echo "[[[" > "$ROOT/broken"; git config include.path "$ROOT/broken"'],
  [
    'addresses that run programs',
    `git config protocol.ext.allow always; git config "url.ext::$EVIL .insteadOf" /; git config remote.origin.url "ext::$EVIL"
    git config remote.origin.pushurl "ext::$EVIL"; git config core.sshCommand "$EVIL"`,
  ],
  [
    'programs for everything',
    `for key in core.fsmonitor core.alternateRefsCommand core.pager gpg.program diff.external; do git config $key "$EVIL"; done
    git config core.hooksPath "$ROOT/hooks"; git config log.showSignature true; git config commit.gpgSign true`,
  ],
  [
    'objects that are elsewhere',
    `git config core.repositoryFormatVersion 1; git config extensions.partialClone agent
    git config remote.agent.promisor true; git config remote.agent.url "$ROOT"; git config remote.agent.uploadpack "$EVIL"`,
  ],
];

test.each(SETTINGS)(
  'W4 W8 W11 settings with %s: who wrote them is named, and other rows are made and delivered all the same',
  async (_, script) => {
    const site = new WorkspaceSite();
    const base = site.repository({ 'a.txt': 'a\n' });
    const evil = join(site.root, 'hooks', 'reference-transaction');
    site.write('hooks/reference-transaction', `#!/bin/sh\ntouch "${site.root}/evil"\n`, 0o755);
    const config = join(site.project, '.git', 'config');
    for (const [key, value] of Object.entries({ name: 'Ada', email: 'ada@example.org' })) {
      site.run('project', 'config', `user.${key}`, value);
    }
    copyFileSync(config, join(site.root, 'config'));
    const workspaces = site.open();
    const [three, five] = [
      opened(await workspaces.open(site.request())),
      opened(await workspaces.open(site.request({ item: { id: 'five.0', row: 5, label: 'five' } }))),
    ];
    // Its own commits are found in its working tree, too.
    site.write(`${five.top.slice(site.root.length + 1)}/five.txt`, 'five\n');
    site.run(five.top.slice(site.root.length + 1), 'add', '-A');
    site.run(five.top.slice(site.root.length + 1), 'commit', '-qm', 'by the agent');
    const env = { ...process.env, ROOT: site.root, EVIL: evil, CONFIG: config };
    spawnSync('sh', ['-c', script], { cwd: three.top, env });
    rmSync(join(site.root, 'evil'), { force: true });

    expect(await three.trespassOf([script.replaceAll('$CONFIG', config)])).toMatch(
      /^it changed \.git\/config.* of .*, outside of its workspace$/,
    );
    const deliveries = site.deliveries(workspaces);
    expect(await changed(five)).toEqual(['added five.txt']);
    expect(await deliveries.deliver(site.delivery('five.0', 'branch'))).toMatchObject({ kind: 'delivered' });
    const seven = opened(await workspaces.open(site.request({ item: { id: 'seven.0', row: 7, label: 'seven' } })));
    site.write(`${seven.top.slice(site.root.length + 1)}/seven.txt`, 'seven\n');
    expect(await changed(seven)).toEqual(['added seven.txt']);
    expect(await deliveries.deliver(site.delivery('seven.0', 'merge'))).toMatchObject({ kind: 'delivered' });
    for (const record of await site.records.all()) await workspaces.remove(record, new AbortController().signal);
    expect(existsSync(join(site.root, 'evil'))).toBe(false);

    copyFileSync(join(site.root, 'config'), config);
    for (const name of ['five', 'seven', 'merged']) {
      expect(site.run('project', 'rev-parse', `${BRANCHES}/${name}~1`)).toBe(base);
    }
    expect(site.run('project', 'worktree', 'list')).not.toContain('\n');
    expect(site.run('project', 'status', '--porcelain')).toBe('');
  },
);

test('W4 a mirror is fetched with the settings that Nightshift gave it', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' }, 'origin');
  const request = site.request({ kind: 'clone', repo: join(site.root, 'origin') });
  const first = opened(await site.open().open(request));
  const alternates = join(first.top, '.git', 'objects', 'info', 'alternates');
  const mirror = spawnSync('cat', [alternates], { encoding: 'utf8' })
    .stdout.trim()
    .replace(/\/objects$/, '');
  expect(mirror).toMatch(/\/mirrors\/origin-\w+\.git$/);
  const evil = `touch ${site.root}/evil; git-upload-pack`;
  spawnSync('git', ['config', '--file', join(mirror, 'config'), 'remote.origin.uploadpack', evil]);
  site.write(`${mirror.slice(site.root.length + 1)}/hooks/reference-transaction`, `#!/bin/sh\n${evil}\n`, 0o755);
  const other = { ...request, item: { id: 'other.0', row: 5, label: 'b' } };
  opened(await site.open().open(other));
  spawnSync('sh', ['-c', `echo "[[[" >> ${mirror}/config`]);
  opened(await site.open().open({ ...other, item: { id: 'third.0', row: 6, label: 'c' } }));
  expect(existsSync(join(site.root, 'evil'))).toBe(false);
});

test('W11 a file of the main checkout that changes within the second of the index is noticed', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'config', 'core.trustctime', 'false');
  const at = new Date('2020-01-01T00:00:00Z');
  const touch = (file: string) => utimesSync(join(site.project, file), at, at);
  touch('a.txt');
  site.run('project', 'update-index', '-q', '--refresh');
  touch('.git/index');
  const workspace = opened(await site.open().open(site.request()));
  site.write('project/a.txt', 'x\n');
  touch('a.txt');
  expect(await workspace.trespassOf([`echo x > ${site.project}/a.txt`])).toMatch(/^it changed a\.txt of /);
});
