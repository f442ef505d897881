import { expect, test } from 'vitest';
import { agentTask, Project, shellTask, task } from '../harness.ts';

const TABLE = 'name,colour,work\nalpha,red,todo\nbeta,blue,todo\n';

test('D1 a dev is given its task, its item, names of variables and where it is; nothing of other items or of what was', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,colour,before,work\nalpha,crimson,todo,todo\nbeta,blue,todo,todo\n',
    tasks: {
      before: agentTask('1. Prepare {name}', '- ready'),
      work: agentTask('1. Paint {name} in {colour} with {ENV:BRUSH}', '- {name} is {colour}'),
    },
    env: 'BRUSH=badger hair\nTOKEN=s3cr3t-token\n',
  });
  project.behave({ dev: { report: { recommendations: 'None', error: 'noise of an earlier task' } } });
  expect((await shift.start()).code).toBe(0);
  const call = project
    .calls()
    .find(({ role, task: name, index }) => role === 'dev' && name === 'work' && index === '1');
  const prompt: string = call.prompt;
  expect(prompt).toContain('1. Paint beta in blue with badger hair');
  expect(prompt).toContain('- beta is blue');
  const item = JSON.parse(/<item-(\w+)>\n([\s\S]*?)\n<\/item-\1>/.exec(prompt)![2]!);
  expect(item).toMatchObject({
    shift: 'night',
    shift_folder: project.path('.nightshift/night'),
    table: project.path('.nightshift/night/table.csv'),
    column: 'work',
    index: 1,
    environment: ['BRUSH', 'TOKEN'],
    metadata: { name: 'beta', colour: 'blue' },
  });
  expect(call.env).toMatchObject({ BRUSH: 'badger hair', TOKEN: 's3cr3t-token' });
  for (const foreign of ['alpha', 'crimson', 's3cr3t-token', 'noise', 'Prepare', '<history-']) {
    expect(prompt).not.toContain(foreign);
  }
  const processes = project.calls().filter((each) => each.role === 'dev' && !each.ended);
  expect(new Set(processes.map(({ pid }) => pid)).size).toBe(4);
});

test('D1 D3 after a reset a dev is told why its item failed last time; attempts start at 1 again, the key stays', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: TABLE, tasks: { work: agentTask() } });
  project.behave({ 'dev:alpha': { report: { overall_status: 'FAILED (step 1)', error: 'the paint was dry' } } });
  expect((await shift.start()).code).toBe(3);
  expect((await project.run(['table', 'night', 'reset', '--failed'])).code).toBe(0);
  project.behave({});
  const before = project.calls().length;
  expect((await shift.start()).code).toBe(0);
  const devs = project.calls().filter(({ role, name, ended }) => role === 'dev' && name === 'alpha' && !ended);
  const again = project
    .calls()
    .slice(before)
    .find(({ role }) => role === 'dev');
  expect(again).toMatchObject({ name: 'alpha', attempt: '1' });
  expect(again.prompt).toMatch(
    /<history-(\w+)>\nThis item was tried before[\s\S]*the paint was dry[\s\S]*<\/history-\1>/,
  );
  expect(devs.map(({ attempt }) => attempt)).toEqual(['1', '2', '3', '1']);
  expect(new Set(devs.map(({ key }) => key)).size).toBe(1);
  expect(project.calls().find(({ name }) => name === 'beta').key).not.toBe(devs[0].key);
});

test('D3 three attempts, counted by the engine; a later one is told what failed and may succeed', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: TABLE, tasks: { work: agentTask() } });
  project.behave({
    'dev:alpha': { report: { overall_status: 'FAILED (validation)', error: 'still red', attempts: 99 } },
    'dev:beta:1': { report: { overall_status: 'FAILED (step 1)', error: 'no paint' } },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  const of = (name: string) =>
    project.calls().filter((call) => call.role === 'dev' && call.name === name && !call.ended);
  expect(of('alpha').map(({ attempt }) => attempt)).toEqual(['1', '2', '3']);
  expect(of('beta').map(({ attempt }) => attempt)).toEqual(['1', '2']);
  expect(of('beta')[1].prompt).toMatch(/This is attempt 2[\s\S]*FAILED \(step 1\): no paint/);
  const finished = ended.events.filter(({ type }) => type === 'dev:finished');
  expect(finished.map(({ status, attempts }) => [status, attempts])).toEqual([
    ['FAILED (validation)', 3],
    ['SUCCESS', 2],
  ]);
});

test('D3 X1 attempts and retry-delay: of the shift, or of the task; the pause is told, and ends when the run is to end', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 2, 'retry-delay': '10ms' },
    table: 'name,once,twice,late\na,todo,todo,todo\n',
    tasks: {
      once: shellTask('true', 'test -e once || { touch once; false; }', '- attempts: 5\n- retry-delay: none'),
      twice: shellTask('true', 'echo try >>tries; test $(wc -l <tries) -ge 2'),
      late: shellTask('false', 'true', '- attempts: 3\n- retry-delay: 20m'),
    },
  });
  const running = shift.launch();
  const paused = await running.seen('attempt:finished', ({ task: name }) => name === 'late');
  expect(paused).toMatchObject({ attempt: 1, maxAttempts: 3 });
  expect(paused.waitMs).toBeGreaterThanOrEqual(10 * 60_000);
  expect(paused.waitMs).toBeLessThanOrEqual(30 * 60_000);
  expect((await project.run(['stop', 'night'])).code).toBe(0);
  const { code, events } = await running.ended;
  expect(code).toBe(130);
  expect(events.filter(({ type }) => type === 'run:waiting')).toEqual([]);
  expect(shift.rows()[0]).toMatchObject({ once: 'done', twice: 'done', late: 'todo' });
  const first = (name: string) => events.find(({ type, task: of }) => type === 'attempt:finished' && of === name);
  expect(first('once')).not.toHaveProperty('waitMs');
  expect(first('once').maxAttempts).toBe(5);
  expect(first('twice')).toMatchObject({ maxAttempts: 2, waitMs: expect.any(Number) });

  // The second of two attempts is the last.
  project.write('.nightshift/night/late.md', shellTask('false', 'true', '- retry-delay: none'));
  const again = await shift.start();
  expect(again.code).toBe(3);
  expect(again.events.filter(({ type }) => type === 'attempt:finished').map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test('D3 shell: a failed step ends the attempt; a failed check too; two retries', async () => {
  const project = new Project();
  const steps =
    '1. First\n```sh\necho one >> log-{name}\n[ {name} != beta ] || { echo no ink; exit 3; }\n```\n2. Second\n   ~~~sh\n   echo two >> log-{name}\n   ~~~';
  const validation = '- Counted\n  ```sh\n  [ "$(grep -c two log-{name})" -ge 2 ]\n  ```';
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { work: task({ steps, validation }) },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(project.read('log-alpha')).toBe('one\ntwo\none\ntwo\n');
  expect(project.read('log-beta')).toBe('one\none\none\n');
  const [alpha, beta] = ended.events.filter(({ type }) => type === 'dev:finished');
  expect(alpha).toMatchObject({ status: 'SUCCESS', attempts: 2 });
  expect(beta).toMatchObject({
    status: 'FAILED (step 1)',
    attempts: 3,
    reason: expect.stringMatching(/exit code 3: no ink/),
  });
  expect(shift.column('work')).toEqual(['done', 'failed']);
});

test('D4 the whole answer is kept where show and status print it', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: TABLE, tasks: { work: agentTask() } });
  project.behave({
    'dev:alpha': {
      report: {
        overall_status: 'SUCCESS',
        steps: [{ step: 1, status: 'SUCCESS', output: 'painted' }],
        captured_values: { litres: 2 },
        self_validation: [{ criterion: 'alpha is done', status: 'PASS' }],
        recommendations: ['Stir first'],
      },
    },
    'dev:beta': { report: { overall_status: 'FAILED (step 7)', error: 'the wall is\ngone' } },
  });
  expect((await shift.start()).code).toBe(3);
  const shown = JSON.parse((await project.run(['show', 'night', '1', '--json'])).stdout);
  expect(shown.tasks[0]).toMatchObject({
    status: 'done',
    captured: { litres: '2' },
    dev: { status: 'SUCCESS', attempts: 1 },
  });
  const plain = (await project.run(['show', 'night', '2'])).stdout;
  for (const number of [1, 2, 3]) expect(plain).toContain(`attempt ${number}: FAILED (step 7): the wall is\n    gone`);
  const status = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(status.failures).toEqual([
    { task: 'work', reason: 'FAILED (step 7): the wall is\ngone', items: [{ row: 2, label: 'beta', attempts: 3 }] },
  ]);
});

test.each([
  ['nothing', { report: null }, /no report/],
  ['no JSON', { report: null, stdout: 'All done, boss.\n' }, /no report/],
  ['a status of its own', { report: { overall_status: 'DONE' } }, /no usable report: overall_status/],
  ['no status', { report: { overall_status: null } }, /no usable report: overall_status/],
  ['another form', { report: { captured_values: ['x'] } }, /no usable report: captured_values/],
  ["another item's key", { report: { key: 'f'.repeat(32) } }, /no usable report: the key is that of another item/],
])(
  'D4 R9 exit 0 with %s is no success; a command is not asked again within an attempt',
  async (_, behaviour, reason) => {
    const project = new Project();
    const shift = project.shift('night', { table: 'name,work\nalpha,todo\n', tasks: { work: agentTask() } });
    project.behave({ dev: behaviour });
    const ended = await shift.start();
    expect(ended.code).toBe(3);
    expect(shift.column('work')).toEqual(['failed']);
    expect(
      project
        .calls()
        .filter((call) => !call.ended)
        .map(({ role, attempt }) => role + attempt),
    ).toEqual(['dev1', 'dev2', 'dev3']);
    expect(ended.events.find(({ type }) => type === 'item:recorded').reason).toMatch(reason);
  },
);

test('D4 a dev that saw a criterion fail did not succeed, whatever it says on top', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: 'name,work\nalpha,todo\n', tasks: { work: agentTask() } });
  const saw = [{ criterion: 'alpha is done', status: 'FAIL', reason: 'it drips' }];
  project.behave({ dev: { report: { overall_status: 'SUCCESS', self_validation: saw } } });
  const ended = await shift.start();
  expect(shift.column('work')).toEqual(['failed']);
  expect(ended.events.find(({ type }) => type === 'dev:finished')).toMatchObject({
    status: 'FAILED (validation)',
    attempts: 3,
    reason: 'FAILED (validation): alpha is done: it drips',
  });
});

test('D4 shell: a step and its reason have the tail of the output', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\nalpha,todo\n',
    tasks: { work: shellTask('seq 1 500\necho at the end >&2\nfalse\necho never') },
  });
  const ended = await shift.start();
  const { reason } = ended.events.find(({ type }) => type === 'item:recorded');
  expect(reason).toMatch(/^FAILED \(step 1\): exit code 1: /);
  expect(reason).toContain('at the end');
  expect(reason).not.toContain('never');
  expect(reason.length).toBeLessThan(3000);
});
