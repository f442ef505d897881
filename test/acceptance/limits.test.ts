import { expect, test } from 'vitest';
import { AGENT, agentTask, type Ended, Project, type ShiftHandle, shellTask, task, until } from '../harness.ts';

type Settings = Record<string, string | number | boolean>;

const table = (rows: readonly string[], tasks = ['work'], status = 'todo') =>
  `name,${tasks.join(',')}\n${rows.map((name) => `${name},${tasks.map(() => status).join(',')}\n`).join('')}`;
const ofType = ({ events }: Pick<Ended, 'events'>, type: string) => events.filter((event) => event.type === type);
const reasonOf = (ended: Pick<Ended, 'events'>): string => ofType(ended, 'run:finished')[0].reason;
const begun = (project: Project, role?: string) =>
  project.calls().filter((call) => !call.ended && (role === undefined || call.role === role));
const suggested = async (project: Project): Promise<string> =>
  JSON.parse((await project.run(['status', 'night', '--json'])).stdout).next.command;
const waits = { sh: 'until test -e go; do sleep 0.05; done' };
const priced = { usage: { input_tokens: 90, output_tokens: 10, cost_usd: 0.25 } };

function night(project: Project, rows: readonly string[], settings: Settings = {}): ShiftHandle {
  return project.shift('night', { settings, table: table(rows), tasks: { work: agentTask() } });
}

test('X6 at max-cost nobody is asked anything more: what is done waits at qa; a restart does not refill it; a flag wins', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c', 'd'], { parallel: true, 'max-cost': '$0.50' });
  project.behave({ '*': { report: { ...priced, recommendations: ['Look twice', 'Be brief'] } }, manager: {} });
  const ended = await shift.start();
  expect(ended.code).toBe(4);
  expect(shift.column('work')).toEqual(['qa', 'qa', 'todo', 'todo']);
  expect(
    begun(project)
      .map(({ role, name }) => `${role} ${name}`)
      .sort(),
  ).toEqual(['dev a', 'dev b']);
  expect(reasonOf(ended)).toBe('max-cost is used up: $0.50 of $0.50');
  expect(ofType(ended, 'item:returned')).toHaveLength(2);
  expect(shift.manager).toContain('- Completed: 0');
  // What is in flight may go on spending, so nobody can say yet what would be enough.
  expect(ofType(ended, 'run:draining')[0]).toMatchObject({ reason: 'max-cost is used up: $0.50 of $0.50' });

  const dry = await project.run(['start', 'night', '--dry-run', '--where', 'name=c']);
  expect(dry.stdout).toMatch(/^limits: \$0\.50 of \$0\.50$/m);
  expect(dry.stdout).toMatch(
    /exit code would be 4: max-cost is used up: .*; `nightshift start night --where name=c --max-cost 1` continues/,
  );
  expect(dry.stdout).not.toMatch(/can be dispatched|first:/);

  // Nothing is claimed, and nobody is asked, not even about what was recommended.
  const again = await project.run(['start', 'night']);
  expect(again.code).toBe(4);
  expect(again.stdout).toContain('limits: $0.50 of $0.50');
  expect(again.stdout).toMatch(
    /^stopped: max-cost is used up: \$0\.50 of \$0\.50\. `nightshift start night --max-cost 1` continues, or .* manager\.md/m,
  );
  expect(again.stdout).toMatch(/^this run: [^,\n]+\nthe shift: \S+, 180 tokens in, 20 out, \$0\.50$/m);
  expect(begun(project)).toHaveLength(2);
  expect(shift.journal().filter(({ type }) => type === 'batch:claimed')).toHaveLength(1);
  const status = await project.run(['status', 'night']);
  expect(status.stdout).toContain('limits: $0.50 of $0.50');
  expect(status.stdout).toMatch(/^the last run ended \d\d:\d\d: max-cost is used up: \$0\.50 of \$0\.50$/m);
  expect(status.stdout).toMatch(/^not running: `nightshift start night --max-cost 1` continues, /m);
  expect(JSON.parse((await project.run(['status', 'night', '--json'])).stdout).limits).toEqual({ 'max-cost': 0.5 });

  // What a dev has finished is judged, and not done again.
  expect((await shift.start(['--max-cost', '9'])).code).toBe(0);
  expect(shift.column('work')).toEqual(['done', 'done', 'done', 'done']);
  expect(begun(project, 'dev')).toHaveLength(4);
});

test('X6 max-tokens drains a stream: who is at work finishes, nobody else is asked or begun', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c'], { parallel: true, dispatch: 'stream', 'max-tokens': '1M' });
  project.behave({ 'dev:a': { report: priced }, 'dev:b': waits });
  const running = shift.launch(['--max-tokens', '100', '--rows', ':3']);
  const draining = await running.seen('run:draining');
  expect(draining).toMatchObject({ signal: 'limit', reason: expect.stringContaining('100 of 100 tokens') });
  expect(draining.running).toBeGreaterThan(0);
  project.write('go', '');
  const ended = await running.ended;
  expect([ended.code, reasonOf(ended)]).toEqual([
    4,
    expect.stringMatching(/^max-tokens is used up: .* of 100 tokens$/),
  ]);
  expect(await suggested(project)).toBe('nightshift start night --rows :3 --max-tokens 200');
  expect(shift.column('work')).toEqual(['qa', 'qa', 'todo']);
  expect(begun(project, 'qa')).toHaveLength(0);
  expect(ofType(ended, 'concurrency:changed')).toEqual([]);
  const again = await shift.start(['--max-tokens', '100']);
  expect([again.code, ofType(again, 'batch:claimed')]).toEqual([4, []]);
});

test.each(['batch', 'stream'])(
  'X6 no further attempt, and no return to the dev, begins at max-cost (%s)',
  async (dispatch) => {
    const project = new Project();
    const settings = { parallel: true, dispatch, 'current-batch-size': 2, 'qa-retries': 1 };
    const shift = night(project, ['a', 'b'], { ...settings, 'max-cost': 0.25, patience: '10m' });
    project.behave({ dev: { report: { ...priced, overall_status: 'FAILED (step 1)', error: 'no' } } });
    const first = await shift.start(['--rows', '1']);
    expect([first.code, reasonOf(first)]).toEqual([4, 'max-cost is used up: $0.25 of $0.25']);
    expect(begun(project)).toHaveLength(1);
    // Not its fault: it is not failed, and has all its attempts again.
    expect(shift.column('work')).toEqual(['todo', 'todo']);
    expect(ofType(first, 'run:waiting')).toEqual([]);

    const short = { criterion: 'a is done', status: 'FAIL', reason: 'too short' };
    project.behave({ qa: { report: { ...priced, overall_status: 'FAIL', criteria: [short] } } });
    const second = await shift.start(['--max-cost', '0.5', '--rows', '1']);
    expect([second.code, begun(project).map(({ role }) => role)]).toEqual([4, ['dev', 'dev', 'qa']]);
    expect(shift.column('work')).toEqual(['todo', 'todo']);

    // Its next dev is told what the qa found.
    project.behave({});
    expect((await shift.start(['--max-cost', 'none'])).code).toBe(0);
    const told = begun(project, 'dev').filter(({ name }) => name === 'a');
    expect(told.map(({ prompt }) => prompt.includes('too short'))).toEqual([false, false, true]);
  },
);

test('X6 a limit leaves what waits for its qa there', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c']);
  shift.tableText = table(['a', 'b', 'c'], ['work'], 'qa');
  project.behave({ qa: { report: priced } });
  expect((await shift.start(['--max-cost', '0.5'])).code).toBe(4);
  expect(shift.column('work')).toEqual(['done', 'done', 'qa']);
});

test('X6 max-duration drains although nothing is begun for long, and the time of all runs counts', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { 'max-duration': '3s' });
  project.behave({ 'dev:a': waits });
  const running = shift.launch();
  const { reason } = await running.seen('run:draining');
  expect(reason).toMatch(/^max-duration is used up: .* of 3s$/);
  project.write('go', '');
  const ended = await running.ended;
  expect([ended.code, reasonOf(ended)]).toEqual([4, expect.stringMatching(/^max-duration is used up: /)]);
  expect(await suggested(project)).toMatch(/^nightshift start night --max-duration \d+s$/);
  expect(shift.column('work')).toEqual(['done', 'todo']);
  const calls = project.calls().length;
  expect((await shift.start()).code).toBe(4);
  expect(project.calls()).toHaveLength(calls);
  expect((await shift.start(['--max-duration', 'none'])).code).toBe(0);
});

test('X6 until ends the wait for trouble to pass, too', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { parallel: true, patience: '10m' });
  project.behave({ '*': { exit: 75 } });
  const time = new Date(Date.now() + 4000).toISOString();
  const ended = await shift.start(['--until', time]);
  expect([ended.code, reasonOf(ended)]).toEqual([4, expect.stringMatching(/^until .* is over$/)]);
  expect(await suggested(project)).toMatch(/^nightshift start night --until \d\d:\d\d$/);
  expect(ofType(ended, 'run:started')[0].limits).toEqual({ until: time });
  expect(shift.column('work')).toEqual(['todo', 'todo']);
});

test('X6 max-failures counts in one run; where nothing is left, the run has finished', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 1, 'max-failures': 2 },
    table: table(['a', 'b', 'c', 'd']),
    tasks: { work: shellTask('exit 1') },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(4);
  expect(reasonOf(ended)).toBe('max-failures is used up: 2 failed in this run');
  expect(await suggested(project)).toBe('nightshift start night');
  expect(shift.column('work')).toEqual(['failed', 'failed', 'todo', 'todo']);
  expect((await shift.start()).code).toBe(3);
  expect(shift.column('work')).toEqual(['failed', 'failed', 'failed', 'failed']);
});

test('X6 retry sets nothing back where a limit is used up: the reasons of the failures stay', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { 'max-cost': 0.1, attempts: 1 });
  project.behave({ 'dev:a': { report: { ...priced, overall_status: 'FAILED (step 1)', error: 'no ink' } } });
  expect((await shift.start()).code).toBe(4);
  const retried = await project.run(['retry', 'night', '--max-tokens', '9m']);
  expect(retried.code).toBe(4);
  expect(retried.stderr).toContain('nothing was reset: max-cost is used');
  // What it advises is a command that does it, within the other limits.
  expect(retried.stderr).toMatch(/`nightshift retry night --max-tokens 9m --max-cost [\d.]+` continues/);
  expect(shift.column('work')).toEqual(['failed', 'todo']);
  expect((await project.run(['retry', 'night', '--max-cost', 'none', '--plain'])).stdout).toContain('1 reset to todo');
});

test('X6 D5 a person lowers a limit during a run: no agent gets another prompt, not even a qa', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { 'max-cost': 100 });
  project.behave({ dev: { ...waits, report: priced } });
  const running = shift.launch();
  await until(() => begun(project, 'dev').length === 1, 'the first dev');
  shift.manager = shift.manager.replace('max-cost: 100', 'max-cost: 0.25');
  project.write('go', '');
  expect((await running.ended).code).toBe(4);
  expect(shift.column('work')).toEqual(['qa', 'todo']);
});

test('X6 tokens without a cost are said to be unseen by max-cost, once', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { 'max-cost': 1 });
  project.behave({ dev: { report: { usage: { input_tokens: 70, output_tokens: 7 } } } });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'run:warning').map(({ message }) => message)).toEqual([
    '77 tokens came without a cost, so max-cost does not see it; max-tokens and max-duration still hold',
  ]);
  // An agent that says nothing at all.
  project.behave({});
  await project.run(['table', 'night', 'reset', '--index', '0', '--task', 'work']);
  const silent = await shift.start(['--max-tokens', '9M']);
  expect(ofType(silent, 'run:warning').map(({ message }) => message)).toContain(
    "work: agent command did not report what it spent, so max-cost and max-tokens can't count it; max-duration still holds",
  );
});

test('X6 a task whose items fail in a row at one step is paused: the others go on, and both ways to go on work', async () => {
  const project = new Project();
  const rows = ['a', 'b', 'c', 'd', 'e'];
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 1, 'max-same-failures': 3 },
    table: table(rows, ['draft', 'print']),
    tasks: { draft: shellTask('true'), print: shellTask('test -e go') },
  });
  const ended = await project.run(['start', 'night']);
  expect(ended.code).toBe(4);
  expect(shift.column('draft')).toEqual(rows.map(() => 'done'));
  expect(shift.column('print')).toEqual(['failed', 'failed', 'failed', 'todo', 'todo']);
  const paused = shift.journal().filter(({ type }) => type === 'task:paused');
  expect(paused).toMatchObject([{ task: 'print', failures: 3, failurePoint: 'step 1' }]);
  expect(ended.stdout).toMatch(/^limits: 3 failures in a row at one point pause a task$/m);
  expect(ended.stdout).toContain('print: paused: 3 in a row failed at the same point (step 1)');
  expect(ended.stdout).toMatch(
    /^stopped: print was paused: 3 in a row failed at the same point \(step 1\)\. `nightshift start night` continues\.$/m,
  );

  project.write('go', '');
  expect((await project.run(['retry', 'night', '--task', 'print'])).code).toBe(0);
  expect(shift.column('print')).toEqual(['done', 'done', 'done', 'todo', 'todo']);
  expect((await shift.start()).code).toBe(0);
  expect(shift.column('print')).toEqual(rows.map(() => 'done'));
});

test('X6 a limit that is reached where a task is paused too is told first, and what goes on keeps the other limits', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b', 'c'], { 'max-same-failures': 2, attempts: 1 });
  project.behave({ dev: { report: { ...priced, overall_status: 'FAILED (step 1)', error: 'no ink' } } });
  const ended = await project.run(['start', 'night', '--max-cost', '0.5', '--max-duration', '1h']);
  expect([ended.code, shift.column('work')]).toEqual([4, ['failed', 'failed', 'todo']]);
  expect(ended.stdout).toMatch(
    /^stopped: max-cost is used up: .*; work was paused: .*`nightshift start night --max-duration 1h --max-cost \d+` continues/m,
  );
  expect(ended.stdout.match(/`nightshift /g)).toHaveLength(1);
});

const failsFor = (names: string) => `\n\n   \`\`\`sh\n   case {name} in ${names}) exit 1;; esac\n   \`\`\`\n`;

test('X6 a done, or another place, begins the count anew; a criterion is known by its position', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 1, 'max-same-failures': 3 },
    table: table(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']),
    tasks: {
      work: task({
        steps: `1. Cut {name}${failsFor('a|b|d')}\n2. Fold {name}${failsFor('e')}`,
        validation: `- {name} is there\n- {name} is good${failsFor('f|g|h')}\n- {name} is dry${failsFor('g')}`,
        configuration: `- qa-agent: command\n- command: ${AGENT}`,
      }),
    },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(4);
  expect(shift.column('work').join()).toBe('failed,failed,done,failed,failed,failed,failed,failed,todo');
  expect(ofType(ended, 'task:paused')).toMatchObject([{ task: 'work', failures: 3, failurePoint: 'criterion 2' }]);
});

test('X6 what qa rejects is a place, too, and so is a timeout; a pause that keeps nothing from being done is no stop', async () => {
  const project = new Project();
  const shift = night(project, ['a', 'b'], { 'max-same-failures': 1 });
  project.behave({ qa: { report: { overall_status: 'FAIL', criteria: [] } } });
  const rejected = await shift.start();
  expect([rejected.code, ofType(rejected, 'task:paused')]).toMatchObject([4, [{ failurePoint: 'criterion 1' }]]);
  project.write('.nightshift/night/work.md', agentTask(undefined, undefined, '- timeout: 1s\n'));
  project.behave({ dev: { sleep: 60_000 } });
  const timedOut = await shift.start();
  expect([timedOut.code, ofType(timedOut, 'task:paused')]).toMatchObject([3, [{ failurePoint: 'timeout' }]]);
});

test.each([
  ['max-cost', '5 EUR', /is not an amount of money/, /5 or 2\.50/],
  ['max-tokens', 'many', /is not a number of tokens/, /2M/],
  ['max-duration', 'all night', /is not a time/, /8h/],
  ['until', '7 o’clock', /is not a time of day/, /07:00/],
  ['max-failures', '0', /is not a positive integer/, /10/],
  ['max-same-failures', 'a', /is not a positive integer/, /3/],
])('X6 %s: %s is refused, as a flag and as a key, before anything runs', async (key, value, says, advises) => {
  const project = new Project();
  const shift = night(project, ['a']);
  const flag = await project.run([key === 'until' ? 'retry' : 'start', 'night', `--${key}`, value]);
  expect([flag.code, flag.stderr]).toEqual([2, expect.stringMatching(says)]);
  expect(flag.stderr).toMatch(advises);
  shift.manager = shift.manager.replace('- name: night', `- name: night\n- ${key}: ${value}`);
  const asKey = await project.run(['start', 'night']);
  expect([asKey.code, asKey.stderr]).toEqual([2, expect.stringMatching(says)]);
  expect(asKey.stderr).toMatch(advises);
  expect(asKey.stderr).toContain('.nightshift/night/manager.md:6');
  expect(project.calls()).toEqual([]);
});

test('X6 a limit that limits nothing is refused before anything starts: without its dash, misspelt, in a task', async () => {
  const project = new Project();
  const shift = night(project, ['a']);
  const manager = shift.manager;
  for (const [line, advice] of [
    ['max-cost: 5', 'write `- max-cost: 5` at the beginning of a line'],
    ['- max-costs: 5', 'write `- max-cost: 5`'],
  ]) {
    shift.manager = manager.replace('- name: night', `- name: night\n${line}`);
    for (const args of [
      ['start', 'night'],
      ['start', 'night', '--detach'],
      ['retry', 'night'],
    ]) {
      const ended = await project.run(args);
      expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining(advice!)]);
      expect(ended.stderr).toContain('.nightshift/night/manager.md:6');
    }
  }
  shift.manager = manager;
  project.write('.nightshift/night/work.md', agentTask(undefined, undefined, '- max-cost: 5\n'));
  const ended = await project.run(['start', 'night']);
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('`max-cost` is a limit of the shift')]);
  expect(ended.stderr).toMatch(/work\.md:\d+\n.*manager\.md/);
  expect(project.calls()).toEqual([]);
});
