import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';

const TABLE = 'kind,package,make,read\nlib,libgd-dev,,\nlib,hunter2-hunter2,,\nlib,zlib,,\n';
const FRAGILE = shellTask('case {package} in *2) echo "no {package} today"; exit 1;; esac');

function shift(project: Project, settings: Record<string, string> = {}) {
  return project.shift('night', {
    settings: { agent: 'shell', attempts: 1, ...settings },
    table: TABLE,
    tasks: { make: FRAGILE, read: shellTask('printf half; echo " a line"') },
    env: 'KEY=hunter2-hunter2\n',
  });
}

test('X8 M5 S4 lines, status, show, retry and logs name rows and count item-tasks; a secret is masked', async () => {
  const project = new Project();
  const night = shift(project);
  const { stdout } = await project.run(['start', 'night', '--plain']);
  expect(stdout).toContain('  row 1 libgd-dev: make done\n');
  expect(stdout).toContain('  row 2 [KEY]: make failed: FAILED (step 1): exit code 1: no [KEY] today\n');
  expect(stdout).toContain('Progress: 1/3 items, 2/6 item-tasks. Compacted: false\n');
  expect(stdout).toContain('Progress: 2/3 items, 4/6 item-tasks. Compacted: false\n');
  expect(stdout).toContain('failed: make, row 2 [KEY] after 1 attempt\n');
  const ofRow = (index: number) => night.journal().filter((event) => event.index === index);
  for (const event of ofRow(0)) expect(event).toMatchObject({ label: 'libgd-dev' });
  expect(ofRow(1).map(({ label }) => label)).toContain('[KEY]');
  const said = async (...args: string[]) => (await project.run(args)).stdout;
  expect(await said('status')).toContain('failed: make, row 2 [KEY] after 1 attempt\n');
  expect(await said('show', 'night', '3')).toMatch(/^night, row 3 zlib\n/);
  expect(JSON.parse(await said('show', 'night', '3', '--json'))).toMatchObject({ row: 3, label: 'zlib' });
  expect(await said('show', 'night', 'zlib')).toBe(await said('show', 'night', '3'));
  expect(await said('preview', 'night', 'read', '--row', 'zlib')).toBe(
    await said('preview', 'night', 'read', '--row', '3'),
  );
  expect(await said('logs', '--row', 'zlib')).toBe(await said('logs', '--row', '3'));
  expect(await said('test-task', 'night', 'read', '--row', 'zlib')).toContain('row 3 zlib');
  expect(await said('retry', '--dry-run')).toContain('row 2 [KEY]: make: FAILED (step 1)');
  expect(await said('logs')).toMatch(/^\d\d:\d\d {3}row 3 zlib: read done$/m);
  expect(await said('logs', '--row', '3')).toMatch(
    /^--- row 3 zlib: read, dev attempt 1, output \(\d\d:\d\d\)\n {2}half a line$/m,
  );

  // A journal of an older version has no labels and counts only items.
  const journal = `${night.folder}/.engine/journal.jsonl`;
  const older = project.read(journal).replaceAll(/,"label":"[^"]*"|,"itemTasks":\{[^}]*\}/g, '');
  project.write(journal, older);
  const logs = await said('logs');
  expect(logs).toMatch(/ {3}row 3: read done$/m);
  expect(logs).toMatch(/ Progress: 2\/3 items\. Compacted: false$/m);
  expect(await said('status')).toContain('failed: make, row 2 [KEY] after 1 attempt\n');
});

test('X8 `label:` chooses the name; a column that does not exist is an error with its place, before anything runs', async () => {
  const project = new Project();
  const night = shift(project, { label: '{kind} {package}' });
  expect((await project.run(['start', '--rows', '1'])).stdout).toContain('  row 1 lib libgd-dev: read done\n');
  expect(night.tableText).toContain('libgd-dev,done,done');
  shift(project, { label: 'packege' });
  const wrong = await project.run(['start']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('`label: packege`: the table has no such column');
  expect(wrong.stderr).toMatch(/manager\.md:9$/m);
  expect(wrong.stderr).toContain('did you mean package?');
  expect(night.tableText).toBe(TABLE);
});
