import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import type { LocalWorkspaces } from './local-workspaces.ts';
import { Reading } from './reading.ts';

const { signal } = new AbortController();

class Site extends WorkspaceSite {
  readonly id = this.request().item.id;
  readonly desk = this.folders.desk(this.id);

  constructor() {
    super();
    this.repository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
    this.run('project', 'config', 'user.name', 'Ada');
    this.run('project', 'config', 'user.email', 'ada@example.org');
  }

  async remove(workspaces: LocalWorkspaces): Promise<void> {
    await workspaces.remove((await this.records.read(this.id))!, signal);
  }

  /** Two tasks and what an interrupted try left, delivered, and the workspace removed. */
  async deliver(workspaces: LocalWorkspaces = this.open()): Promise<void> {
    const start = opened(await workspaces.open(this.request()));
    writeFileSync(join(start.top, 'half.txt'), 'half\n');
    for (const task of ['first', 'second']) {
      const workspace = opened(await workspaces.open(this.request({ task })));
      writeFileSync(join(workspace.top, `${task}.txt`), `${task}\n`);
      expect(await changed(workspace)).toEqual([`added ${task}.txt`]);
    }
    await this.send(workspaces);
  }

  async send(workspaces: LocalWorkspaces): Promise<void> {
    const sent = await this.deliveries(workspaces).deliver(this.delivery(this.id, 'branch'));
    expect(sent).toMatchObject({ kind: 'delivered' });
    await this.remove(workspaces);
  }

  /** Files besides those that each desk has: objects that are not in a pack, refs, copies of the index. */
  more(): string[] {
    const usual = /^(HEAD|config|packed-refs|info\/exclude|objects\/info\/alternates|objects\/pack\/.*)$/;
    const all = readdirSync(this.desk, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return all
      .map(({ parentPath, name }) => join(parentPath, name).slice(this.desk.length + 1))
      .filter((file) => !usual.test(file));
  }

  async changeNow(): Promise<string[]> {
    const { base, delivery, from } = (await this.records.read(this.id))!;
    await using reading = await Reading.open(this.git, { desk: this.desk, repository: from }, signal);
    const tree = await reading.treeOf(delivery!.commit);
    return (await reading.change({ base, tree: tree! })).files.map(({ path }) => path);
  }
}

test('W7 of a delivered row, the commits stay, in one pack', async () => {
  const site = new Site();
  await site.deliver();
  expect(site.more()).toEqual([]);
  // Also if nobody has the branch any more.
  site.run('project', 'branch', '-D', 'nightshift/upgrade/gro-e-ts');
  expect(await site.changeNow()).toEqual(['first.txt', 'second.txt']);
  // Only what the row made: no history of the repository.
  const packed = site.run('.', `--git-dir=${site.desk}`, 'count-objects', '-v');
  expect(packed).toMatch(/^count: 0\n(.*\n)*in-pack: 1\d\npacks: 1\n/);
});

test('W7 a delivered row that is done again finds its results, and what an interrupted try left', async () => {
  const site = new Site();
  await site.deliver();
  const again = opened(await site.open().open(site.request({ task: 'second' })));
  expect(readFileSync(join(again.top, 'first.txt'), 'utf8')).toBe('first\n');
  const show = (name: string) => site.run('.', `--git-dir=${site.desk}`, 'show', `refs/nightshift/${name}`);
  expect([show('left/1:half.txt'), show('result/first:first.txt')]).toEqual(['half', 'first']);
  writeFileSync(join(again.top, 'more.txt'), 'more\n');
  expect(await changed(again)).toEqual(['added more.txt']);
  await site.send(site.open());
  expect([site.more(), await site.changeNow()]).toEqual([[], ['first.txt', 'more.txt']]);
});

test('W7 the desk of a row goes if the row has changed nothing, and stays if it holds work or files', async () => {
  const site = new Site();
  const workspaces = site.open();
  expect(await changed(opened(await workspaces.open(site.request())))).toEqual([]);
  await site.remove(workspaces);
  expect(existsSync(site.desk)).toBe(false);

  const { top } = opened(await workspaces.open(site.request()));
  writeFileSync(join(top, 'c.txt'), 'c\n');
  expect(await changed(opened(await workspaces.open(site.request({ role: 'qa' }))))).toEqual(['added c.txt']);
  await site.remove(workspaces);
  expect(site.run('.', `--git-dir=${site.desk}`, 'show', 'refs/nightshift/result/first:c.txt')).toBe('c');

  // A repository that an agent made is kept as a folder.
  const third = opened(await workspaces.open(site.request()));
  site.repository({ 'x.txt': 'x\n' }, `${third.top.slice(site.root.length + 1)}/inner`);
  opened(await workspaces.open(site.request()));
  await site.remove(workspaces);
  expect(readFileSync(join(site.desk, 'left/1/inner/x.txt'), 'utf8')).toBe('x\n');
});

class Killed extends Error {}

test('W7 after a kill, the next run puts the desk away', async () => {
  const site = new Site();
  const mortal = site.open({
    failpoint: (name) => {
      if (name === 'workspace:removed') throw new Killed();
    },
  });
  await expect(site.deliver(mortal)).rejects.toThrow(Killed);
  expect(site.more()).not.toEqual([]);
  // What a kill of git leaves.
  writeFileSync(join(site.desk, 'packed-refs.lock'), '');
  await site.open().recover(signal);
  expect([site.more(), await site.changeNow()]).toEqual([[], ['first.txt', 'second.txt']]);
});
