import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, task, until } from '../harness.ts';

/** What the journal holds, by `role name`. */
function spent(shift: ShiftHandle): Record<string, number> {
  const names = shift.column('name');
  const all: Record<string, number> = {};
  for (const { type, role, index, usage } of shift.journal()) {
    if (type !== 'usage:spent') continue;
    const who = `${role} ${names[index]}`;
    all[who] = Math.round(((all[who] ?? 0) + (usage.costUsd ?? 0)) * 100) / 100;
  }
  return all;
}

const cost = { usage: { cost_usd: 0.3 } };

test('X6 what an attempt cost counts however it ended, and once', async () => {
  const project = new Project();
  const rows = [
    'exit',
    'word',
    'key',
    'none',
    'broken',
    'twice',
    'early',
    'data',
    'text',
    'claude',
    'verdict',
    'later',
  ];
  const shift = project.shift('night', {
    settings: { patience: '1s', attempts: 2 },
    table: `name,work\n${rows.map((name) => `${name},todo\n`).join('')}`,
    tasks: { work: agentTask() },
  });
  const printed = (text: string) => ({ report: null, stdout: text });
  project.behave({
    'dev:exit': { report: { overall_status: 'FAILED (step 1)', ...cost }, exit: 1 },
    'dev:later': { report: cost, exit: 75 },
    'dev:word': { report: { overall_status: 'DONE', ...cost } },
    'dev:key': { report: { key: 'another', ...cost } },
    'dev:none': printed('{"usage":{"cost_usd":0.3}}\nI am done.\n'),
    'dev:broken': printed('{"overall_status":"SUCCESS","usage":{"cost_usd":0.3},"steps":[{'),
    // The same sum as it grows: the last one counts.
    'dev:twice': { stdout: '{"usage":{"cost_usd":0.1}}\n{"usage":{"cost_usd":0.2}}\n', report: cost },
    'dev:early': { stdout: '{"usage":{"cost_usd":0.3}}\n' },
    'dev:data': { report: { captured_values: { cost_usd: '500', cost: '7' }, ...cost } },
    'dev:text': { report: { usage: { cost_usd: '$0.30' } } },
    'dev:claude': printed('{"type":"result","result":"done","total_cost_usd":0.3,"usage":{"input_tokens":3}}'),
    'qa:verdict': { report: { overall_status: 'MAYBE', ...cost } },
  });
  await shift.start();
  const { 'dev later': later, ...others } = spent(shift);
  // As often as it was tried.
  expect(later).toBeGreaterThanOrEqual(0.3);
  expect(others).toEqual({
    ...{ 'dev exit': 0.6, 'dev word': 0.6, 'dev key': 0.6, 'dev none': 0.6, 'dev broken': 0.6 },
    ...{ 'dev twice': 0.3, 'dev early': 0.3, 'dev data': 0.3, 'dev text': 0.3, 'dev claude': 0.6, 'qa verdict': 0.6 },
  });
});

test('X6 an agent that is ended has spent what it printed until then: at its timeout, and when the run is stopped', async () => {
  const project = new Project();
  // More than is kept of its output comes after it.
  const flood = 'yes "a long line of a log" | head -c 3000000';
  const shift = project.shift('night', {
    settings: { agent: 'command', command: 'sh ./agent.sh' },
    table: 'name,work\nslow,todo\nstopped,todo\n',
    tasks: { work: task({ configuration: '- timeout: 60s', steps: '1. Do {name}', validation: '- {name} is done' }) },
  });
  const body = `echo '{"usage": {"cost_usd": 0.3, "input_tokens": 5}}'; ${flood}; touch printed; exec sleep 300`;
  project.write('agent.sh', body);
  const running = shift.launch(['--rows', '2']);
  await until(() => project.exists('printed'), 'the agent has printed');
  await project.run(['stop', '--now']);
  await running.ended;
  expect(spent(shift)).toEqual({ 'dev stopped': 0.3 });
  project.write('.nightshift/night/work.md', shift.task('work').replace('60s', '2s'));
  await shift.start(['--rows', '1']);
  expect(shift.column('work')).toEqual(['failed', 'todo']);
  expect(spent(shift)).toEqual({ 'dev stopped': 0.3, 'dev slow': 0.3 });
});

test('X6 a cost that is not an amount is unknown, and said to be; it never lowers or blows up the sum', async () => {
  const project = new Project();
  const rows = ['much', 'negative', 'huge', 'nan', 'good'];
  project.shift('night', {
    settings: { 'max-cost': 1 },
    table: `name,work\n${rows.map((name) => `${name},todo\n`).join('')}`,
    tasks: { work: agentTask() },
  });
  project.behave({
    'dev:much': { report: { usage: { cost_usd: 'much' } } },
    'dev:negative': { report: { usage: { cost_usd: -5 } } },
    'dev:huge': { report: { usage: { cost_usd: 1e300 } } },
    'dev:nan': { report: null, stdout: '{"overall_status":"SUCCESS","usage":{"cost_usd":NaN}}' },
    'dev:good': { report: cost },
  });
  const ended = await project.run(['start', 'night', '--plain']);
  expect(ended.stdout).toMatch(
    /an agent reported a cost that is not an amount of US dollars, so max-cost does not see it/,
  );
  expect(ended.stdout).toMatch(/^this run: .*\$0\.30 and an unknown cost for 6 answers$/m);
});

test('X6 test-task says what it cost, counts towards the limits of the shift, and stops at them', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { 'max-cost': 1 },
    table: 'name,work\na,todo\n',
    tasks: { work: agentTask() },
  });
  project.behave({ '*': { report: cost } });
  const test = (...more: string[]) => project.run(['test-task', 'night', 'work', '--row', '1', ...more]);
  const first = await test();
  expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^this try: \$0\.60$/m)]);
  expect((await project.run(['status', 'night'])).stdout).toContain('limits: $0.60 of $1.00');
  // The dev and its qa would cost as much again: after the next dev nobody is asked any more.
  project.behave({ '*': { report: { usage: { cost_usd: '0.5' } } } });
  const second = await test();
  expect([second.code, second.stdout]).toEqual([4, expect.stringMatching(/max-cost is used up: \$1\.10 of \$1\.00/)]);
  expect(second.stdout).toMatch(/^this try: \$0\.50$/m);
  const calls = project.calls().length;
  const third = await test();
  expect([third.code, third.stderr]).toEqual([
    4,
    expect.stringMatching(/nothing was tried: max-cost is used up: .*--max-cost 2/),
  ]);
  expect((await shift.start()).code).toBe(4);
  expect(project.calls()).toHaveLength(calls);
  project.behave({ dev: { sleep: 200, report: cost } });
  expect((await test('--max-cost', '4')).code).toBe(0);
  // Its time counts, too.
  const fourth = await test('--max-cost', '4', '--max-duration', '200ms');
  expect([fourth.code, fourth.stderr]).toEqual([4, expect.stringContaining('nothing was tried: max-duration is used')]);
  expect((await shift.start(['--max-cost', '4', '--max-duration', '200ms'])).code).toBe(4);
});

test('X6 a batch by hand is not opened where a limit is used up, and what it reports counts', async () => {
  const project = new Project();
  project.shift('night', {
    settings: { 'max-cost': 1 },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: agentTask() },
  });
  expect((await project.run(['batch', 'open', 'night'])).code).toBe(0);
  const close = (usage: string) => project.run(['batch', 'close', 'night', '--give-back', '--usage', usage]);
  expect(await close('much')).toMatchObject({ code: 2, stderr: expect.stringContaining('cost_usd') });
  expect((await close('{"cost_usd": 1.2}')).code).toBe(0);
  const refused = await project.run(['batch', 'open', 'night']);
  expect([refused.code, refused.stderr]).toEqual([
    4,
    expect.stringContaining('no batch was opened: max-cost is used up: $1.20 of $1.00'),
  ]);
});
