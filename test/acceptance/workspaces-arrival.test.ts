import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RepositoryProject } from '../kit/repository-project.ts';

const WORK = `echo more > {name}.txt
git add -A; git -c user.name=x -c user.email=x commit -qm own`;

/** An agent that makes its own repository say that its work is on the remote. */
const LIAR = `${WORK}
for ref in main master nightshift/night/merged HEAD; do git update-ref refs/remotes/origin/$ref HEAD; done
git config remote.origin.url "$PWD"; git config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*`;

/** In a worktree it would fail for what it did to the repository, so there the test lies. */
const KINDS = {
  clone: { step: LIAR, settings: { workspace: 'clone', repo: './remote.git', 'working-dir': '.' } },
  worktree: { step: WORK, settings: { workspace: 'worktree' } },
};

test.each(Object.entries(KINDS))(
  'W7 W11 prune asks the remote itself whether it has the change of a %s, and keeps what it can not confirm',
  async (kind, { step, settings }) => {
    const project = new RepositoryProject();
    project.rows(['one', 'two', 'three'], step, settings);
    expect((await project.command(['start', 'night'])).code).toBe(0);
    if (kind === 'worktree')
      project.git('repository', 'update-ref', 'refs/remotes/origin/main', 'nightshift/night/one');
    const prune = async () => (await project.command(['workspaces', 'prune', '--json'])).stdout;
    const verdicts = async (): Promise<string[]> =>
      JSON.parse(await prune()).workspaces.map(
        (each: { row: number; isRemoved: boolean; because: string }) =>
          `${each.row} ${each.isRemoved ? 'removed' : 'kept'}: ${each.because}`,
      );
    const kept = (row: number) => `${row} kept: its change is not delivered`;
    const before = project.git('repository', 'for-each-ref');
    expect(await verdicts()).toEqual([1, 2, 3].map(kept));

    // Somebody merges the change of row 2, in one commit, and works on.
    project.git('.', 'clone', '-q', 'remote.git', 'elsewhere');
    for (const [file, text] of [
      ['two.txt', 'more\n'],
      ['two.txt', 'and more\n'],
    ] as const) {
      project.write(`elsewhere/${file}`, text);
      project.git('elsewhere', 'add', '-A');
      project.git('elsewhere', 'commit', '-qm', 'squashed');
    }
    project.git('elsewhere', 'push', '-q', 'origin', 'HEAD:main');
    renameSync(project.path('remote.git'), project.path('away.git'));
    expect(await verdicts()).toEqual([1, 2, 3].map((row) => expect.stringContaining(`${kept(row)}; `)));
    expect(await prune()).toMatch(/can't be asked whether it has the change: .*does not appear to be a git repository/);
    renameSync(project.path('away.git'), project.path('remote.git'));
    expect(await verdicts()).toEqual([kept(1), '2 removed: its change is in origin/main', kept(3)]);
    expect(project.git('repository', 'for-each-ref')).toBe(before);
  },
);
