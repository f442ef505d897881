import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import { openKeptDesk } from './kept-desk.ts';
import type { LocalWorkspaces } from './local-workspaces.ts';
import { RunCopies } from './run-copies.ts';
import { settingIn } from './settings.ts';

const { signal } = new AbortController();

/** The hook that a commit would run, and the author that it would have. */
async function inUse(site: WorkspaceSite, workspaces: LocalWorkspaces) {
  const { source } = await workspaces.openDesk((await site.records.all())[0]!, signal);
  const hook = join(source!.hooks, 'pre-commit');
  return [existsSync(hook) && readFileSync(hook, 'utf8'), settingIn(source!.settings, 'user.name')];
}

async function killedRun() {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'config', 'user.name', 'Ada');
  site.write('project/.git/hooks/pre-commit', 'of Ada\n', 0o755);
  opened(await site.open().open(site.request()));
  // Its agent writes these, and nothing looks any more.
  site.run('project', 'config', 'user.name', 'Mallory');
  site.write('project/.git/hooks/pre-commit', 'of Mallory\n', 0o755);
  site.write('project/.git/hooks/pre-push', 'of Mallory\n', 0o755);
  return site;
}

test('W4 hooks and settings that a killed run has read still count for the next one, and what differs is told', async () => {
  const site = await killedRun();
  expect(await inUse(site, site.open())).toEqual(['of Ada\n', 'Ada']);
  expect(site.warnings.splice(0)).toEqual([
    `${site.project}: the hook pre-commit, the hook pre-push, the setting user.name changed since the run that was ` +
      'killed began. This run uses them as they were then. To use them as they are now, stop this run and start again',
  ]);
  appendFileSync(join(site.project, '.git', 'config'), '[[[\n');
  expect(await inUse(site, site.open())).toEqual(['of Ada\n', 'Ada']);
  expect(site.warnings.splice(0)).toEqual([
    expect.stringMatching(/bad config line .*\. This run uses hooks and settings/),
  ]);
  // A kept desk has them as well.
  const [record] = await site.records.all();
  const kept = await openKeptDesk(site.git, record!, join(site.root, 'engine/desks', record!.id), signal);
  expect(settingIn(kept!.source!.settings, 'user.name')).toBe('Ada');
});

test('W4 copies that a power cut has damaged are made again', async () => {
  const site = await killedRun();
  const sources = join(site.root, 'engine', 'sources');
  const [name] = readdirSync(sources);
  writeFileSync(join(sources, name!, 'hooks', 'pre-commit'), '');
  expect(await inUse(site, site.open())).toEqual(['of Mallory\n', 'Mallory']);
  writeFileSync(join(sources, name!, 'source.json'), '{"source":');
  expect(await inUse(site, site.open())).toEqual(['of Mallory\n', 'Mallory']);
  expect(site.warnings).toEqual([]);
});

test('W4 copies of a run stay until it has ended, and while a desk has its settings', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const [sources, desks] = [join(site.root, 'sources'), join(site.root, 'engine', 'desks')];
  const run = async (copies: RunCopies) => {
    opened(await site.open({ folders: { ...site.folders, sources: copies.folder } }).open(site.request()));
    return copies;
  };
  const first = await run(new RunCopies(sources));
  expect(first.isLeft).toBe(false);
  const resumed = new RunCopies(sources);
  expect([resumed.isLeft, resumed.folder]).toEqual([true, first.folder]);
  await resumed.end(desks);
  expect(existsSync(first.folder)).toBe(true);
  const next = await run(new RunCopies(sources));
  expect([next.isLeft, next.folder]).toEqual([false, join(sources, '2')]);
  // Its removal was interrupted.
  mkdirSync(join(sources, '9.gone', 'x'), { recursive: true });
  await next.end(desks);
  expect(readdirSync(sources)).toEqual(['2']);
});

test('W4 W8 hooks are copied with what they need, and a link in their place copies nothing large', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'config', 'core.hooksPath', '.husky/_');
  site.run('project', 'config', 'user.name', 'Ada');
  site.run('project', 'config', 'user.email', 'ada@example.org');
  // As husky lays them out: each hook calls the script of the same name in the folder above.
  site.write('project/.husky/_/pre-commit', '#!/bin/sh\nsh -e "$(dirname "$(dirname "$0")")/pre-commit"\n', 0o755);
  site.write('project/.husky/pre-commit', 'echo "no commits at night" >&2; exit 1\n');
  symlinkSync('nowhere', join(site.project, '.husky', 'left'));
  const workspaces = site.open();
  const { top } = opened(await workspaces.open(site.request()));
  writeFileSync(join(top, 'b.txt'), 'b\n');
  const { id } = site.request().item;
  expect(await site.deliveries(workspaces).deliver(site.delivery(id, 'branch'))).toMatchObject({
    reason: 'the commit was refused: no commits at night',
  });
  for (let number = 0; number <= 1000; number++) site.write(`many/${number}`, '');
  symlinkSync(join(site.root, 'many'), join(site.root, 'link'));
  site.run('project', 'config', 'core.hooksPath', join(site.root, 'link'));
  const other = site.open({ folders: { ...site.folders, sources: join(site.root, 'other') } });
  expect(await other.open(site.request())).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(/^the hooks can't be copied: \/.*\/link has more than 1000 files/),
  });
});
