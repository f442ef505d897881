import { expect, test } from 'vitest';
import { compileShift } from '../../formats/compile.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import { resolveProse, resolveText } from '../language/template.ts';
import { devOutputs, engineOutputs } from '../workspace/outputs.ts';
import { makeLessonOrder } from './lesson-order.ts';
import { localOrder, makeOrder } from './order.ts';

const TASK = `## Configuration

- agent: shell
- working-dir: {SHIFT:FOLDER}work

## Steps

1. Copy {SHIFT:TABLE} of {SHIFT:NAME} for {name} with {ENV:API_KEY}

\`\`\`sh
cp "{SHIFT:TABLE}" {SHIFT:FOLDER}
\`\`\`

## Validation

- There is a copy in {SHIFT:FOLDER}

\`\`\`sh
test -f {SHIFT:FOLDER}table.csv
\`\`\`
`;

const HERE = { root: '/here', folder: '/here/.nightshift/night', table: '/here/.nightshift/night/table.csv' };
const THERE = { root: '/there', folder: '/there/s', table: '/there/s/table.csv' };

function copyShift() {
  return compileShift(
    {
      ...{ ...HERE, name: 'night', managerFile: '/here/.nightshift/night/manager.md' },
      manager: parseManager('## Shift Configuration\n\n## Task Order\n\n1. copy\n', 'manager.md'),
      tasks: [{ name: 'copy', file: 'copy.md', document: parseTask(TASK, 'copy.md') }],
      secrets: new Map([['API_KEY', 'p4ssw0rd']]),
    },
    ['name', 'copy'],
  );
}

function orderFor(metadata: Record<string, string>) {
  const shift = copyShift();
  return makeOrder(shift, shift.tasks[0]!, { role: 'dev', token: 't', item: { id: 'i', index: 0, metadata } });
}

test('V1 an order is plain JSON and holds no path and no secret of the machine that made it', () => {
  const shift = copyShift();
  const question = { steps: ['Copy'], lessons: [], recommendations: [{ text: 'Look twice', row: 1 }] };
  for (const order of [orderFor({ name: 'Ann' }), makeLessonOrder(shift, shift.tasks[0]!, question)]) {
    const json = JSON.stringify(order);
    expect(JSON.parse(json)).toEqual(order);
    expect(json).not.toMatch(/\/here|p4ssw0rd/);
  }
});

const MANIFEST = `## Shift Configuration

- workspace: worktree
- branch: fix/{name}
- base: {base}
- setup: echo {ENV:API_KEY}
- deliver: pr
- message: {title} of {name} in {SHIFT:NAME}
- pr-title: {subject}

## Task Order

1. plan
2. fix
3. review
4. note
`;

function workspaceShift() {
  const task = (name: string, configuration: string) => {
    const text = `## Configuration\n${configuration}\n## Steps\n1. Do\n## Validation\n- Done\n`;
    return { name, file: `${name}.md`, document: parseTask(text, name) };
  };
  return compileShift(
    {
      ...{ ...HERE, name: 'night', managerFile: '/here/.nightshift/night/manager.md' },
      manager: parseManager(MANIFEST, 'manager.md'),
      tasks: [
        task('plan', '- workspace: shared\n- outputs: base'),
        task('fix', '- outputs: title\n- allow-paths: src/{name}/**, *.md\n- deny-paths: src/{base}\n- max-files: 2'),
        task('review', '- outputs: subject, seen, branch, pr_url'),
        task('note', '- workspace: shared\n- outputs: commit'),
      ],
      secrets: new Map([['API_KEY', 'p4ssw0rd']]),
    },
    ['name', 'plan', 'fix', 'review', 'note'],
  );
}

test('W1 every order of a task in the workspace carries it; the last one says so, with what its delivery needs', () => {
  const shift = workspaceShift();
  const metadata = { name: 'ann', base: 'main', title: 'T', subject: 'S', seen: 'x', branch: 'b', pr_url: '' };
  const item = { id: 'i', index: 0, label: 'Ann', metadata };
  const orders = shift.tasks.flatMap((task) =>
    (['dev', 'qa'] as const).map((role) => makeOrder(shift, task, { role, token: 't', item })),
  );
  expect(
    orders.map((order) => [order.task, order.workspace?.kind, order.isLastInWorkspace, order.deliveryOutputs]),
  ).toEqual([
    ['plan', undefined, undefined, undefined],
    ['plan', undefined, undefined, undefined],
    ['fix', 'worktree', undefined, undefined],
    ['fix', 'worktree', undefined, undefined],
    ['review', 'worktree', true, undefined],
    ['review', 'worktree', true, { subject: 'S' }],
    ['note', undefined, undefined, undefined],
    ['note', undefined, undefined, undefined],
  ]);
  const last = orders[5]!;
  expect(JSON.stringify(last)).not.toMatch(/\/here|p4ssw0rd/);
  expect(last.item).toEqual({ ...item, metadata: { name: 'ann', base: 'main', title: 'T' } });
  expect(localOrder(last, THERE).workspace).toMatchObject({
    branch: ['fix/ann'],
    base: ['main'],
    setup: { values: { NIGHTSHIFT_V_ENV_API_KEY: { env: 'API_KEY' } } },
    delivery: { kind: 'pr', message: ['T of ann in night'], title: ['S'] },
  });
  expect(localOrder(orders[0]!, THERE)).not.toHaveProperty('workspace');
});

test('W6 the paths of a row may be its own; a value is one name in them, whatever it holds', () => {
  const shift = workspaceShift();
  const limits = (name: string) => {
    const item = { id: 'i', index: 0, metadata: { name, base: 'x' } };
    return localOrder(makeOrder(shift, shift.tasks[1]!, { role: 'dev', token: 't', item }), THERE).settings
      .changeLimits;
  };
  expect(limits('ann')).toEqual({ allow: ['src/ann/**', '*.md'], deny: ['src/x'], maxFiles: 2 });
  expect(limits('**').allow[0]).toBe('src/??/**');
  expect(limits('').allow[0]).toBe('src/?/**');
});

test('W1 outputs that the delivery fills are not those of a dev; without a delivery they are', () => {
  const shift = workspaceShift();
  const outputs = shift.tasks.map((task) => {
    const order = makeOrder(shift, task, { role: 'dev', token: 't', item: { id: 'i', index: 0, metadata: {} } });
    return devOutputs(order);
  });
  expect(outputs).toEqual([['base'], ['title'], ['subject', 'seen'], ['commit']]);
  const settings = { outputs: ['branch', 'x'] };
  expect(engineOutputs(settings, { delivery: { kind: 'none' } })).toEqual([]);
  expect(engineOutputs(settings, { delivery: { kind: 'patch' } })).toEqual(['branch']);
});

test('V1 the machine that carries out an order fills in its own paths', () => {
  const order = localOrder(JSON.parse(JSON.stringify(orderFor({ name: 'Ann {SHIFT:NAME}' }))), THERE);
  expect(order.shift).toEqual({ name: 'night', ...THERE });
  expect(resolveText(order.workingDir, {})).toBe('/there/s/work');
  const secrets = { API_KEY: 'other' };
  expect(resolveProse(order.document, secrets)).toContain(
    'Copy /there/s/table.csv of night for Ann {SHIFT:NAME} with other',
  );
  expect(resolveProse(order.criteria[0]!.text, secrets)).toContain('There is a copy in /there/s/');
  const values = [...order.steps[0]!.scripts, order.criteria[0]!.check!].map((script) => Object.values(script.values));
  expect(values).toEqual([['/there/s/table.csv', '/there/s/'], ['/there/s/']]);
});
