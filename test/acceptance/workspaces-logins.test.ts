import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { Forge } from '../kit/forge.ts';

const SECRET = 't0ken-s3cret';
const PLAIN = 'https://github.com/acme/one.git';
const LOGIN = `https://me:${SECRET}@github.com/acme/one.git`;

/** Files below these folders that hold the secret, or are named after it. */
function holding(...folders: string[]): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
      file: join(entry.parentPath, entry.name),
      text: entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), 'latin1') : '',
    })),
  );
  return files.filter(({ file, text }) => file.includes(SECRET) || text.includes(SECRET)).map(({ file }) => file);
}

function place(repo: string, rows: readonly string[], { project = new Project(), step = 'echo > new' } = {}) {
  const forge = new Forge();
  forge.create('acme/one', { 'a.txt': 'a\n' });
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 1, workspace: 'clone', repo, deliver: 'push' },
    table: `url,work\n${rows.map((url) => `${url},todo\n`).join('')}`,
    tasks: { work: shellTask(step) },
    // Elsewhere, nothing would mask it.
    ...(repo.includes('{ENV:') ? { env: `TOKEN=${SECRET}\n` } : {}),
  });
  return { forge, project, shift };
}

test.each([
  ['in the manifest', LOGIN, [PLAIN], /^error: `repo` has a login in its address/],
  ['of .env', 'https://me:{ENV:TOKEN}@github.com/acme/one.git', [PLAIN], /^error: `repo` has a login/],
  ['in a cell', '{url}', [PLAIN, LOGIN], /^error: `repo` of row 2 has a login/],
])(
  'S4 W1 a login %s is an error at start that says what to do, and is written nowhere',
  async (_, repo, rows, said) => {
    const { forge, project, shift } = place(repo, rows);
    const own = holding(project.root);
    for (const args of [['start', 'night'], ['start', 'night', '--dry-run'], ['doctor']]) {
      const { code, stdout, stderr } = await project.run(args, { env: forge.env });
      expect([code, `${stdout}${stderr}`]).toEqual([2, expect.stringMatching(/credential helper/)]);
      expect(`${stdout}${stderr}`).not.toContain(SECRET);
      if (args[0] === 'start') expect(stderr).toMatch(said);
    }
    expect([holding(project.root, forge.root), shift.column('work')]).toEqual([own, rows.map(() => 'todo')]);
  },
);

test('S4 W1 a row with a login that comes during the run fails, and its login is written nowhere', async () => {
  const project = new Project();
  const added = project.path('.nightshift/added');
  project.write('.nightshift/added', `${LOGIN},todo\n`);
  const { forge, shift } = place('{url}', [PLAIN], {
    project,
    step: `cat ${added} >> "$NIGHTSHIFT_TABLE"; echo > new`,
  });
  const { code, stdout, stderr } = await shift.start([], { env: forge.env });
  expect([code, shift.column('work')]).toEqual([3, ['done', 'failed']]);
  const failed = shift.journal().find(({ type, index }) => type === 'dev:finished' && index === 1);
  expect(failed.reason).toMatch(/^`repo` has a login in its address.*credential helper/);
  const told = await Promise.all(['show night 2', 'workspaces', 'status'].map((line) => project.run(line.split(' '))));
  expect(told[0]!.stdout).toContain('has a login in its address');
  for (const text of [stdout, stderr, ...told.slice(1).map((each) => each.stdout)]) expect(text).not.toContain(SECRET);
  const table = project.path(shift.folder, 'table.csv');
  // The report shows the cells of the table.
  const report = project.path(shift.folder, 'report.html');
  expect(holding(project.root, forge.root).sort()).toEqual([added, report, table].sort());
});
