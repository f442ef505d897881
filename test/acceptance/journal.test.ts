import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';

const JOURNAL = '.nightshift/night/.engine/journal.jsonl';
const priced = { usage: { cost_usd: 0.25 } };
const failing = { report: { ...priced, overall_status: 'FAILED (step 1)', error: 'the reason that matters' } };

/** Row a fails at $0.75, each of the others is done at $0.25; a check judges. */
function night(project: Project, rows: readonly string[], settings = {}): ShiftHandle {
  const checked = `${agentTask().split('## Validation')[0]}## Validation\n\n- ok\n\n  \`\`\`sh\n  true\n  \`\`\`\n`;
  const table = `name,work\n${rows.map((name) => `${name},todo\n`).join('')}`;
  return project.shift('night', { settings, table, tasks: { work: checked } });
}

/** Ends with an error if Nightshift writes there meanwhile. */
const CLEAN = 'git clean -qfdx || :';

test('X6 what was spent, and why items failed, survives agents that run git clean -fdx', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b']);
  project.write('.gitignore', '.engine\n*.lock\n');
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'x'],
  ]) {
    execFileSync('git', args, { cwd: project.root });
  }
  project.behave({ 'dev:a': { ...failing, sh: CLEAN }, dev: { sh: CLEAN, report: priced } });
  execFileSync('git', ['add', 'behaviour.json'], { cwd: project.root });
  const ended = await shift.start();
  expect(ended.stderr).toBe('');
  expect(ended.code).toBe(3);
  expect(shift.column('work')).toEqual(['failed', 'done']);
  const { stdout } = await project.run(['status', 'night', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    usage: { costUsd: 1 },
    failures: [{ reason: expect.stringContaining('the reason that matters') }],
    lastRun: { number: 1, usage: { costUsd: 1 }, end: { exitCode: 3 } },
  });
  expect(statSync(project.path('.nightshift/night/.engine')).mode & 0o777).toBe(0o700);

  const calls = project.calls().length;
  await project.run(['table', 'night', 'reset', '--failed']);
  const again = await shift.start(['--max-cost', '1']);
  expect(again.code).toBe(4);
  expect(project.calls()).toHaveLength(calls);
});

test('X6 a cleaning between two runs refills no limit, and does not follow a shift that was made anew', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c'], { 'max-cost': 0.5 });
  project.behave({ dev: { report: priced } });
  expect((await shift.start()).code).toBe(4);
  rmSync(project.path('.nightshift/night/.engine'), { recursive: true });
  const status = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(status.usage).toEqual({ costUsd: 0.5 });
  const again = await shift.start();
  expect(again.code).toBe(4);
  expect(again.events).toContainEqual(
    expect.objectContaining({ type: 'run:warning', message: expect.stringContaining('less than was spent') }),
  );
  expect(project.calls().filter(({ ended }) => ended)).toHaveLength(2);
  // It is in the journal again, whatever becomes of the other record.
  expect(readFileSync(project.path(JOURNAL), 'utf8')).toContain('"usage":{"costUsd":0.5}');

  // Twice in one file, it is still spent once.
  const journal = readFileSync(project.path(JOURNAL), 'utf8');
  writeFileSync(project.path(JOURNAL), journal + journal);
  const spent = async () => JSON.parse((await project.run(['status', 'night', '--json'])).stdout).usage;
  expect(await spent()).toEqual({ costUsd: 0.5 });

  // Put back from a branch or a backup, in a folder that is another one by now, and without the journal.
  cpSync(project.path('.nightshift/night'), project.path('kept'), { recursive: true });
  rmSync(project.path('.nightshift/night'), { recursive: true });
  cpSync(project.path('kept'), project.path('.nightshift/night'), { recursive: true });
  rmSync(project.path('.nightshift/night/.engine'), { recursive: true });
  expect(await spent()).toEqual({ costUsd: 0.5 });
  // On another machine nobody knows, and that is said.
  const elsewhere = { env: { XDG_STATE_HOME: project.path('elsewhere') } };
  const cloned = await shift.start(['--max-cost', '0.25'], elsewhere);
  expect(cloned.events).toContainEqual(
    expect.objectContaining({ type: 'run:warning', message: expect.stringContaining('the limits count from 0') }),
  );

  rmSync(project.path('.nightshift/night'), { recursive: true });
  night(project, ['a', 'b', 'c'], { 'max-cost': 0.5 });
  const fresh = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(fresh.usage).toEqual({});
  expect(existsSync(project.path(JOURNAL))).toBe(false);
});

test('X6 what another command spends or settles beside a run counts in the run, and survives with the rest', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c', 'd'], { 'max-cost': 5 });
  const spent = { type: 'usage:spent', at: '2026-01-01T00:00:00Z', run: 'other', seq: 1, shift: 'night', role: 'dev' };
  const line = (usage: object) => `echo '${JSON.stringify({ ...spent, agent: 'x', usage })}' >> ${JOURNAL}`;
  project.behave({
    'dev:a': { sh: `${line({ costUsd: 1 })}; ${line({ costUsd: -50 })}`, report: priced },
    'dev:b': { sh: `rm ${JOURNAL}; ${line({ costUsd: 4 })}`, report: priced },
    dev: { report: priced },
  });
  expect((await shift.start()).code).toBe(4);
  expect(shift.column('work')).toEqual(['done', 'done', 'todo', 'todo']);
  const { usage } = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(usage).toEqual({ costUsd: 5.5 });
});

test('F1 nothing is written through a link that an agent puts in the place of a folder or file of the engine', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c', 'd'], { parallel: true });
  const engine = '.nightshift/night/.engine';
  const links = ['transcripts', 'versions', 'prompts', 'put-back', 'run.log', 'batch.json'];
  // Nightshift may make the folder again between the two.
  const plant = (file: string) => `until rm -rf ${file} && ln -sT $PWD/outside ${file}; do :; done`;
  project.write('outside/mine.md', 'mine');
  project.behave({
    'dev:a': { sh: links.map((name) => plant(`${engine}/${name}`)).join('; ') },
    // Those that were made again since, one level deeper, and the lock of the table.
    'dev:c': {
      sh: [`${engine}/transcripts/work`, `${engine}/versions/work`, `${shift.folder}/table.csv.lock`]
        .map(plant)
        .join('; '),
    },
    dev: {},
  });
  const edited = shift.task('work').replace('## Validation', '## Validation\n');
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  project.behave({});
  // A new version of the task, and a second run, write to all of them again.
  project.write(`${shift.folder}/work.md`, edited);
  const reset = () => project.run(['table', 'night', 'reset', '--index', '0']);
  expect((await reset()).stderr).toContain('batch.json\n  remove it');
  rmSync(project.path(engine, 'batch.json'));
  expect((await reset()).stdout).toBe('1 reset to todo\n');
  const again = await shift.start();
  expect(again.code).toBe(0);
  expect(again.events.filter(({ type }) => type === 'dev:finished')).toHaveLength(1);
  const told = [...ended.events, ...again.events].filter(({ type }) => type === 'run:warning');
  for (const name of ['transcripts', 'versions'])
    expect(JSON.stringify(told)).toContain(`${engine}/${name} was a link`);
  expect(readdirSync(project.path('outside'))).toEqual(['mine.md']);
  expect(project.read('outside/mine.md')).toBe('mine');
  expect(readdirSync(project.path(engine, 'versions/work'))).not.toEqual([]);
});
