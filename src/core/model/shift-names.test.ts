import { expect, test } from 'vitest';
import { compileShift } from '../../formats/compile.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import { usesFolder, usesTable } from './shift-names.ts';

interface Parts {
  readonly configuration?: string;
  readonly step?: string;
  readonly criterion?: string;
}

function uses({ configuration = '', step = 'Do it', criterion = 'It is done' }: Parts) {
  const text = `## Configuration\n\n- agent: shell\n${configuration}\n\n## Steps\n\n1. ${step}\n\n## Validation\n\n- ${criterion}\n`;
  const { tasks, workspace } = compileShift(
    {
      ...{ root: '/r', folder: '/r/.nightshift/s', table: '/r/.nightshift/s/table.csv', name: 's', managerFile: 'm' },
      manager: parseManager('## Shift Configuration\n\n## Task Order\n\n1. work\n', 'manager.md'),
      tasks: [{ name: 'work', file: 'work.md', document: parseTask(text, 'work.md') }],
      secrets: new Map(),
    },
    ['name', 'work'],
  );
  const [task] = tasks;
  const texts = { template: task!, settings: task!.settings, workspace };
  return { folder: usesFolder(texts), table: usesTable(texts) };
}

const block = (code: string) => `See\n\n   \`\`\`sh\n   ${code}\n   \`\`\``;

test.each<[Parts, ReturnType<typeof uses>]>([
  [{}, { folder: false, table: false }],
  [{ step: 'Read {SHIFT:NAME} and {{SHIFT:FOLDER}}' }, { folder: false, table: false }],
  [{ step: 'Read {SHIFT:FOLDER}x.md' }, { folder: true, table: false }],
  [{ step: block('cat "{SHIFT:FOLDER}x"') }, { folder: true, table: false }],
  [{ step: block('cat "$NIGHTSHIFT_SHIFT_DIR/x"') }, { folder: true, table: false }],
  [{ criterion: block('test -f {SHIFT:FOLDER}x') }, { folder: true, table: false }],
  [{ configuration: '- working-dir: {SHIFT:FOLDER}x' }, { folder: true, table: false }],
  [{ configuration: '- workspace: worktree\n- setup: cat "{SHIFT:FOLDER}x"' }, { folder: true, table: false }],
  [{ configuration: '- workspace: worktree\n- commit-message: {SHIFT:FOLDER}' }, { folder: false, table: false }],
  [{ step: block('wc -l "{SHIFT:TABLE}"') }, { folder: false, table: true }],
])('which names of the shift a task uses: %j', (parts, expected) => {
  expect(uses(parts)).toEqual(expected);
});
