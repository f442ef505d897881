import { expect, test } from 'vitest';
import { compileShift } from '../../formats/compile.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import { resolveProse, resolveText } from '../language/template.ts';
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
