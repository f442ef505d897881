import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, symlinkSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';

const CELLS = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\tx',
  '\rx',
  ' =1',
  'plain, "quoted"\r\nof two lines',
  'a|b <b>*c*</b>',
];

async function exported(): Promise<{ project: Project; shift: ShiftHandle }> {
  const project = new Project();
  const cells = CELLS.map((cell, i) => `n${i},"${cell.replaceAll('"', '""')}",todo,todo\n`);
  const shift = project.shift('night', {
    table: `name,status,work,more\n${cells.join('')}`,
    tasks: { work: agentTask(), more: agentTask() },
    settings: { parallel: true, 'current-batch-size': 9, attempts: 2 },
  });
  const usage = { input_tokens: 100, output_tokens: 20, cost_usd: 0.25 };
  project.behave({
    'dev:n1': { report: { overall_status: 'FAILED (step 1)', error: '=cmd|bad | <i>reason</i>', usage } },
    dev: { report: { captured_values: { found: '@it' }, usage } },
  });
  expect((await shift.start(['--task', 'work'])).code).toBe(3);
  return { project, shift };
}

test('X8 export writes each item-task with metadata, status, reason, attempts, captured values and cost; the table keeps its bytes', async () => {
  const { project, shift } = await exported();
  const before = shift.tableText;
  const csv = await project.run(['export', '--csv', 'out.csv']);
  expect([csv.code, csv.stderr]).toEqual([0, '']);
  expect(csv.stdout).toContain('18 item-tasks of night');
  const rows: Record<string, string>[] = parse(project.read('out.csv'), { columns: true });
  expect(rows).toHaveLength(18);
  // The table has a column `status` of its own.
  expect(rows[0]).toMatchObject({ row: '1', name: 'n0', task: 'work', nightshift_status: 'done', attempts: '1' });
  expect(rows[0]).toMatchObject({ captured: '{"found":"@it"}', input_tokens: '100', cost_usd: '0.25', reason: '' });
  expect(rows[1]).toMatchObject({ row: '1', task: 'more', nightshift_status: 'todo', attempts: '0', cost_usd: '' });
  expect(rows[2]).toMatchObject({ name: 'n1', nightshift_status: 'failed', attempts: '2' });
  expect(rows[2]!.reason).toContain('=cmd|bad');
  expect(Number(rows[2]!.cost_usd)).toBeGreaterThan(0);

  const jsonl = await project.run(['export', 'night', '--jsonl', '-']);
  expect(jsonl.events).toHaveLength(18);
  expect(jsonl.events.map(({ metadata }) => metadata.status).filter((_, i) => i % 2 === 0)).toEqual(CELLS);
  expect(jsonl.events[0]).toMatchObject({ row: 1, task: 'work', status: 'done', captured: { found: '@it' } });
  expect(jsonl.events[0].usage).toEqual({ inputTokens: 100, outputTokens: 20, costUsd: 0.25 });

  const json = await project.run(['export', 'night', '--md', 'out.md', '--json']);
  expect(JSON.parse(json.stdout)).toEqual({
    shift: 'night',
    file: project.path('out.md'),
    format: 'md',
    results: 18,
  });
  const lines = project.read('out.md').trimEnd().split('\n');
  const table = lines.filter((line) => line.startsWith('|'));
  expect(table).toHaveLength(20);
  // No cell makes another cell, another line, markup or HTML.
  for (const line of table) expect(line.match(/(?<!\\)\|/g)).toHaveLength(14);
  expect(project.read('out.md')).toContain('a\\|b &lt;b&gt;\\*c\\*&lt;/b&gt;');
  expect(project.read('out.md')).not.toMatch(/<(?!br>)/);

  expect(shift.tableText).toBe(before);
  expect(readdirSync(project.root).filter((name) => name.includes('tmp'))).toEqual([]);
});

test('S11 what a spreadsheet takes for a formula is text in an exported CSV, in every column; --raw leaves it', async () => {
  const { project, shift } = await exported();
  const read = async (...args: string[]) => {
    const { stdout } = await project.run(['export', 'night', '--csv', '-', ...args]);
    return parse(stdout, { columns: true }) as Record<string, string>[];
  };
  const safe = await read();
  const values = safe.filter((_, i) => i % 2 === 0).map(({ status }) => status);
  expect(values).toEqual(CELLS.map((cell, i) => (i < 7 ? `'${cell}` : cell)));
  expect(safe.flatMap((row) => Object.values(row)).filter((cell) => /^\s*[=+\-@\t\r]/.test(cell))).toEqual([]);
  const raw = await read('--raw');
  expect(raw.filter((_, i) => i % 2 === 0).map(({ status }) => status)).toEqual(CELLS);
  expect(shift.column('status')).toEqual(CELLS);
});

test('an export never replaces what a shift needs, nor what is not a file, and says so before anything is written', async () => {
  const { project, shift } = await exported();
  symlinkSync(project.path(shift.folder, 'table.csv'), project.path('link.csv'));
  linkSync(project.path(shift.folder, 'table.csv'), project.path('hard.csv'));
  execFileSync('mkfifo', [project.path('pipe')]);
  const before = [shift.tableText, shift.manager, JSON.stringify(shift.journal())];
  for (const file of ['table.csv', 'new.csv', '.engine/journal.jsonl', '.engine/x/../run.lock', 'sub/../manager.md']) {
    const { code, stderr } = await project.run(['export', '--csv', `${shift.folder}/${file}`]);
    expect([file, code, stderr]).toEqual([file, 2, expect.stringMatching(/in a \.nightshift folder|no folder/)]);
  }
  const wrong = [
    ['--csv', 'link.csv'],
    ['--csv', '.'],
    ['--csv', 'pipe'],
    ['--csv', 'no/such/folder.csv'],
    ['--csv', 'a.csv', '--md', 'a.md'],
    ['--jsonl', 'a.jsonl', '--raw'],
    ['--csv', '-', '--json'],
    [],
  ];
  for (const args of wrong) expect([args, (await project.run(['export', ...args])).code]).toEqual([args, 2]);
  // A second name of the table is taken away from it, not written through.
  expect((await project.run(['export', '--csv', 'hard.csv'])).code).toBe(0);
  expect([shift.tableText, shift.manager, JSON.stringify(shift.journal())]).toEqual(before);
  expect(readdirSync(project.path(shift.folder)).filter((name) => name.includes('new'))).toEqual([]);
});

test('X8 S11 export --wide writes one line for each row, with status, attempts, cost and reason of each task', async () => {
  const { project } = await exported();
  const csv = await project.run(['export', '--csv', 'wide.csv', '--wide']);
  expect([csv.code, csv.stderr]).toEqual([0, '']);
  expect(csv.stdout).toContain('9 rows of night');
  const rows: Record<string, string>[] = parse(project.read('wide.csv'), { columns: true });
  expect(rows).toHaveLength(9);
  const more = { more: 'todo', more_attempts: '0', more_cost_usd: '', more_reason: '' };
  const done = { work: 'done', work_attempts: '1', work_cost_usd: '0.25', work_reason: '' };
  expect(rows[0]).toEqual({ row: '1', name: 'n0', status: "'=1+1", ...done, ...more });
  expect(rows[1]).toMatchObject({
    work: 'failed',
    work_attempts: '2',
    work_reason: expect.stringContaining('=cmd|bad'),
  });
  const json = await project.run(['export', '--jsonl', '-', '--wide']);
  expect(json.events).toHaveLength(9);
  expect(json.events[1]).toMatchObject({
    ...{ row: 2, metadata: { name: 'n1', status: '+1' } },
    tasks: { work: { status: 'failed', attempts: 2 }, more: { status: 'todo', attempts: 0 } },
  });
  const md = (await project.run(['export', '--md', '-', '--wide'])).stdout;
  expect(md).toContain('| row | name | status | work | work\\_attempts |');
});
