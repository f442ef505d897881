import { chmodSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { Forge } from '../kit/forge.ts';
import { Repository } from '../kit/real-git.ts';
import { listing } from '../listing.ts';

const ROWS = Array.from({ length: 40 }, (_, i) => i + 1);
/**
 * They start together and change the same line: one of them is merged, and the others conflict with it. Rows that start
 * later begin with what is merged by then.
 */
const SAME_LINE = [1, 2, 3, 4, 5, 6, 7];
const REFUSED = 40;

const HOOK = `#!/bin/sh
if git diff --cached --name-only | grep -q secret; then echo "secrets stay out" >&2; exit 1; fi
`;

/** Everything of the checkout but what Nightshift and git keep there. */
function checkout(project: Project): object {
  const files = Object.entries(listing(project.root)).filter(([file]) => !/^\.\/\.(git|nightshift)\//.test(file));
  const own = ['HEAD', 'index', 'refs/heads/main'].map((file) => readFileSync(project.path('.git', file), 'hex'));
  return { files, own };
}

test('W8 40 rows of one repository merge one after the other; conflicts and a refusing hook fail with their cause; a dirty checkout stays as it is', async () => {
  const forge = new Forge();
  const project = new Project();
  const lines = ROWS.map((row) => `row ${row}: todo\n-\n-\n-\n`).join('');
  const repository = new Repository(project.root, {
    'list.txt': lines,
    'title.txt': 'title\n',
    '.gitignore': '.nightshift\n',
  });
  project.write('.git/hooks/pre-commit', HOOK);
  chmodSync(project.path('.git/hooks/pre-commit'), 0o755);
  project.write('list.txt', `mine\n${lines}`);
  project.write('staged.txt', 'staged\n');
  repository.git('add', 'staged.txt');
  project.write('untracked.txt', 'untracked\n');
  const work = `awk -v row={row} '$2 == row ":" { $3 = "done" } { print }' list.txt > new && mv new list.txt
case {kind} in
  line)
    touch "${project.path('.nightshift/started')}-{row}"
    until [ $(ls ${project.path('.nightshift')} | grep -c started-) = ${SAME_LINE.length} ]; do sleep 0.1; done
    echo "title of {row}" > title.txt ;;
  secret) echo x > secret.txt ;;
esac`;
  const kindOf = (row: number) => (SAME_LINE.includes(row) ? 'line' : row === REFUSED ? 'secret' : 'plain');
  const shift = project.shift('night', {
    settings: {
      ...{ agent: 'shell', parallel: true, 'current-batch-size': 8, 'max-batch-size': 8, dispatch: 'stream' },
      ...{ workspace: 'worktree', deliver: 'merge', branch: 'night/{row}', message: 'Do row {row}' },
    },
    table: `row,kind,work\n${ROWS.map((row) => `${row},${kindOf(row)},todo\n`).join('')}`,
    tasks: { work: shellTask(work, 'grep -q "^row {row}: done$" list.txt', '- outputs: branch, commit') },
  });

  const before = checkout(project);
  const ended = await shift.start([], { env: forge.env });
  expect([ended.code, ended.stderr]).toEqual([3, '']);
  // What Nightshift does to branches is not told as a change by agents. The checkout is dirty on purpose.
  const warnings = ended.events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
  expect(warnings).toEqual([expect.stringContaining('(2 files: list.txt, staged.txt); commit it if rows need it')]);
  const failed = ended.events.filter(({ type, to }) => type === 'item:recorded' && to === 'failed');
  const reasons = new Map(failed.map(({ index, reason }) => [index + 1, reason]));
  const log = repository.git('log', '--format=%h %s', 'main..nightshift/night/merged').split('\n');
  expect([log.length, failed.length], [...reasons].join('\n')).toEqual([33, 7]);
  expect(repository.git('log', '--merges', '--format=%h', 'nightshift/night/merged')).toBe('');
  const winner = SAME_LINE.find((row) => !reasons.has(row));
  const merged = log.find((line) => line.endsWith(` Do row ${winner}`));
  for (const row of SAME_LINE.filter((each) => each !== winner)) {
    expect(reasons.get(row)).toContain(`it conflicts in title.txt with ${merged} (nightshift/night/merged)`);
  }
  expect(reasons.get(REFUSED)).toContain('secrets stay out');

  const list = repository.git('show', 'nightshift/night/merged:list.txt');
  expect(list.match(/^row \d+: done$/gm)).toHaveLength(33);
  for (const row of ROWS.filter((each) => each !== REFUSED)) {
    const kept = repository.git('log', '-1', '--format=%s', `night/${row}`, '--');
    expect([row, kept]).toEqual([row, `Do row ${row}`]);
  }
  // A row that is done again begins with what is merged.
  const loser = SAME_LINE.find((row) => row !== winner)!;
  const again = await project.run(['retry', 'night', '--rows', String(loser)], { env: forge.env });
  expect([again.code, repository.git('log', '-1', '--format=%s', 'nightshift/night/merged')]).toEqual([
    0,
    `Do row ${loser}`,
  ]);
  expect(checkout(project)).toEqual(before);
}, 300_000);
