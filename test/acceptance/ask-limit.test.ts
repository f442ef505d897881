import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import {
  agentTask,
  isAlive,
  NIGHTSHIFT,
  Project,
  processIn,
  RunningProcess,
  type ShiftHandle,
  shellTask,
  task,
  until,
} from '../harness.ts';

/** A shift of an agent with a model, whose program ends at once. */
function withModel(project: Project, settings: Record<string, string | number> = {}): ShiftHandle {
  project.write('bin/claude', '#!/bin/sh\nexit 1\n');
  chmodSync(project.path('bin/claude'), 0o755);
  return project.shift('night', {
    settings: { agent: 'claude', patience: '1ms', ...settings },
    table: 'name,work\na,todo\n',
    tasks: { work: task({ steps: '1. Do {name}', validation: '- {name} is done' }) },
  });
}

const pathOf = (project: Project) => ({ PATH: `${project.path('bin')}:${process.env.PATH}` });

/** On a terminal, at which somebody types. */
function typing(project: Project, line: string): RunningProcess & { type: (text: string) => void } {
  const child = spawn('script', ['-qfec', `${process.execPath} ${NIGHTSHIFT} ${line}`, '/dev/null'], {
    cwd: project.root,
    env: { ...process.env, ...pathOf(project), TERM: 'xterm', CI: 'true' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return Object.assign(new RunningProcess(child), { type: (text: string) => void child.stdin.write(text) });
}

const QUESTION = 'How much may it cost';
/** What is typed before it is asked for is lost. */
const asked = (running: RunningProcess, after: string) =>
  until(() => running.stdout.split(after)[1]?.includes(QUESTION), 'the question');

test('X6 without any limit on cost, tokens or time a model is started on a terminal only when somebody has answered, once', async () => {
  const project = new Project();
  const shift = withModel(project);
  const refused = typing(project, 'start night');
  await asked(refused, 'no limit on cost');
  refused.type('five\n');
  await asked(refused, 'is not an amount');
  refused.type('\n');
  const { code, stdout } = await refused.ended;
  expect([code, stdout]).toEqual([2, expect.stringContaining('nothing was started: no limit was set')]);
  expect(shift.manager).not.toContain('max-cost');
  expect(project.exists(`${shift.folder}/.engine/journal.jsonl`)).toBe(false);

  const start = ['start', 'night'];
  const answered = await project.run(start, { env: pathOf(project), answers: ['2.50'] });
  expect(answered.stdout).toMatch(/limits: \$0\.00 of \$2\.50/);
  expect(shift.manager).toContain('- max-cost: 2.50\n');
  shift.manager = shift.manager.replace('max-cost: 2.50', 'max-cost: none');
  const free = await project.run(start, { env: pathOf(project), answers: [] });
  expect(free.stdout).not.toContain(QUESTION);
  expect(free.stdout).toContain('limits: no cost limit');
});

test('X6 a retry asks too, also if nothing is left but what failed', async () => {
  const project = new Project();
  const shift = withModel(project);
  shift.tableText = 'name,work\na,failed\n';
  const { code, stdout } = await project.run(['retry', 'night'], { env: pathOf(project), answers: [''] });
  expect([code, stdout]).toEqual([2, expect.stringContaining(QUESTION)]);
  expect(shift.column('work')).toEqual(['failed']);
});

test('X6 nobody is asked where there is no terminal, no model, or a limit of another kind', async () => {
  const project = new Project();
  withModel(project);
  const piped = await project.run(['start', 'night'], { env: pathOf(project) });
  expect(piped.stdout).toContain('limits: no cost limit');
  for (const flag of ['--max-tokens=1M', '--max-cost=none']) {
    const { stdout } = await project.run(['start', 'night', flag], { env: pathOf(project), answers: [] });
    expect(stdout).not.toContain(QUESTION);
  }
  const shell = new Project();
  shell.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('true') },
  });
  expect((await shell.run(['start', 'night'], { answers: [] })).code).toBe(0);
});

test('X6 --detach says what the run warns of, and its limits, before it returns', async () => {
  const project = new Project();
  project.shift('night', {
    settings: { 'max-cost': 1, mood: 'good' },
    table: 'name,work\na,todo\n',
    tasks: { work: agentTask() },
  });
  const begun = await project.run(['start', 'night', '--detach']);
  const { stdout, stderr } = begun;
  expect(stderr).toMatch(/^warning: unknown key `mood`/);
  expect(stdout).toMatch(/^limits: \$0\.00 of \$1\.00\nnight runs in the background/);
  const pid = processIn(begun);
  await until(() => !isAlive(pid), 'the end');
});
