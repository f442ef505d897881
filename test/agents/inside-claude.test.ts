import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';
import { converse, inClaude, playStartInClaude } from './inside-claude.ts';
import { bash, InsideModel } from './inside-model.ts';
import { playAll } from './inside-play.ts';
import { programFolder } from './programs.ts';

const model = await InsideModel.start();
afterAll(() => model.stop());

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

function newShift(names = NAMES): ShiftHandle {
  return new Project().shift('site', {
    settings: { parallel: true },
    table: `name,draft,check_it\n${names.map((name) => `${name},todo,todo\n`).join('')}`,
    tasks: { draft: agentTask('1. Draft {name}', '- {name} reads well'), check_it: agentTask() },
  });
}

test('O1 O2 O3 O4 in Claude Code a shift runs from init to done, with no setting touched and nothing left to ask', async () => {
  const shift = newShift();
  const { project } = shift;
  await project.run(['init', '--agent', 'claude']);
  model.play = inClaude(playAll({}, playStartInClaude));
  const { said, events } = await converse(project, model, '/nightshift-start site');
  expect(said.at(-1)).toMatch(/^site: 7 items, 7 completed/);
  expect(shift.column('draft')).toEqual(NAMES.map(() => 'done'));
  expect(shift.column('check_it')).toEqual(NAMES.map(() => 'done'));
  expect(events.flatMap(({ permission_denials = [] }) => permission_denials)).toEqual([]);
}, 600_000);

test('O5 in Claude Code a manager whose context was compacted opens no batch, and a fresh one resumes', async () => {
  const shift = newShift(['a']);
  const { project } = shift;
  await project.run(['init', '--agent', 'claude']);
  const others = playAll({}, playStartInClaude);
  let isLong = false;
  const refused: string[] = [];
  model.play = inClaude((talk) => {
    if (talk.player !== 'manager') return others(talk);
    const said = talk.answers.at(-1)?.join('\n') ?? '';
    // It can't be told apart from one that remembers, so it tries to go on.
    if (!talk.prompt.includes('Run the shift')) {
      if (!said.includes('Your context was compacted')) return { calls: [bash('nightshift batch open site')] };
      refused.push(said);
      return { text: 'Compacted: true' };
    }
    if (isLong || !said.includes(' closed: ')) return others(talk);
    isLong = true;
    return { tooLong: true };
  });
  const { said, calls } = await converse(project, model, '/nightshift-start site');
  expect(refused).toEqual([expect.stringContaining('A fresh manager resumes from the files')]);
  const managers = calls.filter(({ tool, parent }) => tool === 'Agent' && parent === null);
  expect(managers).toHaveLength(2);
  expect(said.at(-1)).toMatch(/^site: 1 items?, 1 completed/);
  expect(shift.column('check_it')).toEqual(['done']);
}, 600_000);

test('O1 O2 the same runs as a plugin of Claude Code, which its own checks pass', async () => {
  const shift = newShift(['a']);
  const { project } = shift;
  const plugin = new Project().path('plugin');
  const { stdout } = await project.run(['init', '--agent', 'claude', '--plugin', plugin]);
  expect(stdout).toContain(`claude --plugin-dir ${plugin}`);
  expect(project.exists('.claude')).toBe(false);
  const claude = join(programFolder('claude'), 'claude');
  const env = { ...process.env, HOME: project.root };
  const checked = execFileSync(claude, ['plugin', 'validate', plugin], { encoding: 'utf8', env });
  expect(checked).toMatch(/Validation passed/);
  expect(checked).not.toMatch(/refuses a submission/);
  model.play = inClaude(playAll({}, playStartInClaude), 'nightshift:');
  const { calls } = await converse(project, model, '/nightshift:start site', { flags: ['--plugin-dir', plugin] });
  const started = calls.filter(({ tool }) => tool === 'Agent').map(({ input }) => input.subagent_type);
  expect(started[0]).toBe('nightshift:manager');
  expect([shift.column('draft'), shift.column('check_it')]).toEqual([['done'], ['done']]);
}, 600_000);
