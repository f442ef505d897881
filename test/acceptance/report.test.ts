import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';

const PAYLOAD = '<img src=x onerror=alert(1)>"\'</pre></script><script>alert(2)</script>\u202e';

/** Rows that pass, fail, and carry markup in every place that a report shows. */
function hostileShift(project: Project): ShiftHandle {
  const shift = project.shift('night', {
    table: `name,note,work\nn0,"${PAYLOAD.replaceAll('"', '""')}",\nn1,plain,\nn2,plain,\n`,
    tasks: { work: agentTask() },
    settings: { attempts: 1, 'max-cost': 5 },
    env: 'TOKEN=s3cret-t0ken-value\n',
  });
  const usage = { input_tokens: 100, output_tokens: 20, cost_usd: 0.25 };
  project.behave({
    'dev:n1': { report: { overall_status: 'FAILED (step 1)', error: `bad ${PAYLOAD} s3cret-t0ken-value`, usage } },
    'dev:n2': { report: { overall_status: 'FAILED (step 1)', error: `bad ${PAYLOAD} s3cret-t0ken-value`, usage } },
    dev: { report: { captured_values: { found: PAYLOAD }, usage } },
  });
  return shift;
}

describe('the report of a run', () => {
  test('X8 S10 S4 is written at the end and named by the last line: verdict, money, what needs you; no text of others is markup, no secret is in it', async () => {
    const project = new Project();
    const shift = hostileShift(project);
    const ended = await project.run(['start', 'night', '--plain']);
    expect(ended.code).toBe(3);
    expect(ended.stdout.trimEnd().split('\n').at(-1)).toBe('report: .nightshift/night/report.html');
    const html = project.read(`${shift.folder}/report.html`);
    expect(html).toContain('1 of 3 items is done, 2 failed. The last run ended after');
    expect(html).toContain('(exit code 3)');
    expect(html).toContain('<strong class="">$0.75</strong> spent of $5.00');
    expect(html).toContain('work, 2 rows: ');
    expect(html).toContain('<code>nightshift retry night --task work --rows 2,3</code>');
    expect(html).toMatch(/table\.csv<\/th><td>SHA-256 [0-9a-f]{64}/);
    // Our own script, and nothing else that a browser would run.
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/<img|onerror=[^&]*>|\u202e/);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(html).toMatch(
      /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-/,
    );
    expect(html).not.toContain('s3cret-t0ken-value');
    expect(statSync(project.path(shift.folder, 'report.html')).mode & 0o777).toBe(0o600);
    expect(project.read('.nightshift/.gitignore')).toContain('report.html\n');
  });

  test('X8 says what is different from the run before', async () => {
    const project = new Project();
    const shift = hostileShift(project);
    await shift.start();
    expect(project.read(`${shift.folder}/report.html`)).not.toContain('Changed since');
    await project.run(['table', 'night', 'reset', '--row', '1']);
    project.behave({ 'dev:n0': { report: { overall_status: 'FAILED (step 1)', error: 'new' } }, dev: { report: {} } });
    expect((await shift.start(['--rows', '1'])).code).toBe(3);
    expect(project.read(`${shift.folder}/report.html`)).toContain(
      '<h3>Newly failing: 1</h3><ul><li>work, row 1 n0</li></ul>',
    );
    project.behave({ dev: { report: {} } });
    await project.run(['retry', 'night']);
    const html = project.read(`${shift.folder}/report.html`);
    expect(html).toContain('<h3>Passing again: 3</h3>');
    expect(html).toContain('All 3 items are done.');
    expect(html).toContain('<section><h2>What needs you</h2><p>Nothing.</p></section>');
  });

  test('X8 `report: false` turns it off; a run that finds everything done writes none; --json prints nothing about it', async () => {
    const project = new Project();
    const shift = project.shift('night', {
      table: 'name,work\na,\n',
      tasks: { work: agentTask() },
      settings: { report: false },
    });
    project.behave({ dev: { report: {} } });
    const ended = await project.run(['start', 'night', '--plain']);
    expect(ended.stdout).not.toContain('report');
    expect(project.exists(`${shift.folder}/report.html`)).toBe(false);
    project.write(`${shift.folder}/manager.md`, shift.manager.replace('- report: false\n', ''));
    await shift.start();
    expect(project.exists(`${shift.folder}/report.html`)).toBe(false);
    await project.run(['table', 'night', 'reset', '--row', '1']);
    const { events } = await shift.start();
    expect(events.at(-1)).toMatchObject({ type: 'run:finished' });
    expect(project.exists(`${shift.folder}/report.html`)).toBe(true);
  });

  test('X8 S10 `report` writes it anywhere else, also of a shift that never ran; --md is the short form', async () => {
    const project = new Project();
    const shift = hostileShift(project);
    const before = await project.run(['report', 'night']);
    expect(before.stdout).toBe(`report of night in ${project.path('night-report.html')}\n`);
    expect(project.read('night-report.html')).toContain('It has not run yet.');
    await shift.start();
    const md = await project.run(['report', '--md']);
    expect(md.code).toBe(0);
    const lines = md.stdout.split('\n');
    expect(lines[0]).toBe('# night');
    expect(lines[2]).toMatch(
      /^1 of 3 items is done, 2 failed\. The last run ended after .+: finished, with failed items/,
    );
    expect(lines[4]).toMatch(/^Spent: .+, 300 tokens in, 60 out, \\\$0\.75\.$/);
    expect(lines).toContain('| work | 0 | 0 | 0 | 1 | 2 |');
    expect(md.stdout).toMatch(/^- Retry what failed, .+ `nightshift retry night`$/m);
    expect(md.stdout).not.toMatch(/<(?!br>)|s3cret/);
    const written = await project.run(['report', 'night', '--md', '-o', 'night.md', '--json']);
    expect(JSON.parse(written.stdout)).toEqual({ shift: 'night', file: project.path('night.md') });
    expect(project.read('night.md')).toBe(md.stdout);
    const inside = await project.run(['report', 'night', '-o', `${shift.folder}/table.csv`]);
    expect([inside.code, inside.stderr]).toEqual([2, expect.stringContaining('in a .nightshift folder')]);
  });

  test('R3 a report that cannot be written does not change how the run ended', async () => {
    const project = new Project();
    const shift = project.shift('night', { table: 'name,work\na,\n', tasks: { work: agentTask() } });
    project.behave({ dev: { report: {} } });
    project.write(`${shift.folder}/report.html/in-the-way`, '');
    const ended = await project.run(['start', 'night', '--plain']);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/^warning: no report was written: /m);
  });
});
