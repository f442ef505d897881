import { expect, test } from 'vitest';
import { findBash } from '../../agents/process/shells.ts';
import type { NightshiftError } from '../../core/model/errors.ts';
import { compileShift } from '../../formats/compile.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import { requireBash } from './require-bash.ts';

const STEP = '1. Do\n   ```sh\n   true\n   ```';
const CHECK = '- Done\n  ```sh\n  true\n  ```';

function task(steps: string, validation: string) {
  const files = { name: 'n', root: '/r', folder: '/r/n', table: '/r/n/table.csv', managerFile: '/r/n/manager.md' };
  const manager = parseManager('## Shift Configuration\n\n## Task Order\n\n1. a\n', files.managerFile);
  const document = parseTask(`## Steps\n${steps}\n## Validation\n${validation}\n`, 'a.md');
  const tasks = [{ name: 'a', file: 'a.md', document }];
  return compileShift({ ...files, manager, tasks, secrets: new Map() }, ['name', 'a']).tasks[0]!;
}

test('X2 X3 without bash on the machine, a `bash` block that would run is an error with its place; others are not', () => {
  const refusal = (steps: string, validation: string, runsSteps: boolean) => {
    try {
      requireBash(task(steps, validation), { runsSteps }, () => findBash(() => false));
    } catch (error) {
      const { code, message, file, line } = error as NightshiftError;
      return `${code}: ${message} ${file}:${line}`;
    }
    return undefined;
  };
  const inBash = (text: string) => text.replace('```sh', '```bash');
  const says = "agent-missing: a ```bash block of a can't run: there is no bash on this machine a.md";
  expect(refusal(inBash(STEP), CHECK, true)).toBe(`${says}:3`);
  expect(refusal(STEP, inBash(CHECK), true)).toBe(`${says}:8`);
  expect(refusal(STEP, inBash(CHECK), false)).toBe(`${says}:8`);
  expect(refusal(inBash(STEP), CHECK, false)).toBeUndefined();
  expect(refusal(STEP, CHECK, true)).toBeUndefined();
});
