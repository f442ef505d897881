import { expect, test } from 'vitest';
import { AGENT, agentTask, Project, task } from '../harness.ts';

const ONE = 'name,work\nalpha,todo\n';

test('Q1 a fresh session with the criteria and the item, and nothing that the dev claimed or captured', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { 'working-dir': 'place-{name}' },
    table: 'name,colour,work\nalpha,red,todo\n',
    tasks: {
      work: agentTask(
        '1. Secret recipe for {name}',
        '- {name} is {colour}\n- {ENV:HOST} knows {name}',
        '- outputs: price',
      ),
    },
    env: 'HOST=example.org\n',
  });
  project.write(
    'place-alpha/behaviour.json',
    JSON.stringify({
      dev: {
        report: {
          steps: [{ step: 1, status: 'SUCCESS', output: 'boast-of-the-dev' }],
          captured_values: { price: 'captured-by-dev' },
          self_validation: [{ criterion: 'x', status: 'PASS', reason: 'boast-of-the-dev' }],
          recommendations: ['boast-of-the-dev'],
        },
        stderr: 'boast-of-the-dev',
      },
    }),
  );
  expect((await shift.start()).code).toBe(0);
  expect(shift.column('price')).toEqual(['captured-by-dev']);
  const calls = project.calls();
  const [dev, qa] = ['dev', 'qa'].map((role) => calls.find((call) => call.role === role));
  expect(qa.pid).not.toBe(dev.pid);
  const criteria = [...qa.prompt.matchAll(/<criterion-\w+>\n(.*)\n<\/criterion/g)].map(([, text]) => text);
  expect(criteria).toEqual(['alpha is red', 'example.org knows alpha']);
  const item = JSON.parse(/<item-(\w+)>\n([\s\S]*?)\n<\/item-\1>/.exec(qa.prompt)![2]!);
  expect(item).toEqual({
    column: 'work',
    index: 0,
    working_folder: 'place-alpha',
    metadata: { name: 'alpha', colour: 'red' },
  });
  expect(JSON.parse(qa.env.NIGHTSHIFT_ITEM)).toEqual({ name: 'alpha', colour: 'red' });
  for (const claim of ['boast-of-the-dev', 'captured-by-dev', 'Secret recipe']) expect(qa.prompt).not.toContain(claim);
});

test('Q3 each criterion is judged on its own; what was not judged is "Unable to verify"; the reasons are recorded', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: ONE,
    tasks: { work: agentTask('1. Do {name}', '- first\n- second\n- third\n- fourth') },
  });
  const criteria = [
    { criterion: 'first', status: 'FAIL', reason: 'it is not there' },
    { criterion: 'second', status: 'PASS' },
    { criterion: 'third', status: 'FAIL', reason: 'Unable to verify: the page needs a login' },
  ];
  project.behave({ qa: { report: { overall_status: 'PASS', criteria } } });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(shift.column('work')).toEqual(['failed']);
  const finished = ended.events.find(({ type }) => type === 'qa:finished');
  expect(finished.status).toBe('FAIL');
  expect(finished.verdicts.map(({ criterion, status }: Record<string, string>) => [criterion, status])).toEqual([
    ['first', 'FAIL'],
    ['second', 'PASS'],
    ['third', 'FAIL'],
    ['fourth', 'FAIL'],
  ]);
  const show = (await project.run(['show', 'night', '1'])).stdout;
  expect(show).toContain('FAIL first: it is not there');
  expect(show).toContain('PASS second');
  const status = (await project.run(['status', 'night'])).stdout;
  for (const reason of ['it is not there', 'Unable to verify: the page needs a login', 'fourth: Unable to verify: '])
    expect(status).toContain(reason);
  // No dev is asked again after a verdict.
  expect(project.calls().filter(({ role, ended: end }) => role === 'dev' && !end)).toHaveLength(1);
});

test('Q3 overall FAIL fails the item although each criterion is PASS', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: ONE, tasks: { work: agentTask() } });
  project.behave({ qa: { report: { overall_status: 'FAIL', summary: 'it smells' } } });
  expect((await shift.start()).code).toBe(3);
  expect((await project.run(['status', 'night'])).stdout).toContain('it smells');
});

test('Q3 X2 a model cannot overrule a check that failed; every check runs, also after one failed', async () => {
  const project = new Project();
  const validation = [
    '- judged by an agent',
    '- first check\n  ```sh\n  echo ran >> first; echo too small; false\n  ```',
    '- second check\n  ```sh\n  echo ran >> second\n  ```',
  ].join('\n');
  const shift = project.shift('night', {
    table: ONE,
    tasks: {
      work: task({ configuration: `- agent: command\n- command: ${AGENT}\n- qa: always`, steps: '1. Do', validation }),
    },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(shift.column('work')).toEqual(['failed']);
  expect(ended.events.find(({ type }) => type === 'item:recorded').reason).toMatch(
    /^FAILED \(validation\): first check: exit code 1: too small$/,
  );
  expect([project.read('first'), project.read('second')]).toEqual(['ran\nran\nran\n', 'ran\nran\nran\n']);
  expect(project.calls().some(({ role }) => role === 'qa')).toBe(false);
});

test('Q3 a check that fails when an interrupted item is judged is not overruled by a qa that passes all', async () => {
  const project = new Project();
  const validation = '- judged by an agent\n- a check\n  ```sh\n  test -e there\n  ```';
  const shift = project.shift('night', {
    table: 'name,work\nalpha,qa\n',
    tasks: { work: task({ configuration: `- agent: command\n- command: ${AGENT}`, steps: '1. Do', validation }) },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(
    project
      .calls()
      .filter((call) => !call.ended)
      .map(({ role }) => role),
  ).toEqual(['qa']);
  const { verdicts } = ended.events.find(({ type }) => type === 'qa:finished');
  expect(verdicts).toMatchObject([
    { criterion: 'a check', status: 'FAIL', checked: true },
    { criterion: 'judged by an agent', status: 'PASS' },
  ]);
});

test.each([
  ['no verdict', { report: null }],
  ['no criteria', { report: { criteria: null } }],
  ['a verdict of its own', { report: { overall_status: 'FINE' } }],
  ['a non-zero exit', { exit: 1, stderr: 'crashed' }],
])(
  'Q4 a qa with %s is asked once more, in a fresh session, then the item is failed with that reason',
  async (_, behaviour) => {
    const project = new Project();
    const shift = project.shift('night', { table: ONE, tasks: { work: agentTask() } });
    project.behave({ qa: behaviour });
    const ended = await shift.start();
    expect(ended.code).toBe(3);
    expect(shift.column('work')).toEqual(['failed']);
    const asked = project.calls().filter(({ role, ended: end }) => role === 'qa' && !end);
    expect(asked).toHaveLength(2);
    expect(asked[0].pid).not.toBe(asked[1].pid);
    expect((await project.run(['show', 'night', '1'])).stdout).toContain('qa gave no usable verdict');
    project.behave({ 'qa:alpha:1': behaviour });
    await project.run(['table', 'night', 'reset', '--failed']);
    expect((await shift.start()).code).toBe(0);
  },
);

test("Q4 trouble that is not the item's fault leaves it at qa; it is judged later and not done again", async () => {
  const project = new Project();
  const shift = project.shift('night', { settings: { patience: '2s' }, table: ONE, tasks: { work: agentTask() } });
  project.behave({ qa: { exit: 75, stderr: 'quota' } });
  expect((await shift.start()).code).toBe(4);
  expect(shift.column('work')).toEqual(['qa']);
  project.behave({});
  expect((await shift.start()).code).toBe(0);
  expect(project.calls().filter(({ role, ended }) => role === 'dev' && !ended)).toHaveLength(1);
});
