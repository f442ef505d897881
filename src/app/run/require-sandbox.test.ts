import { expect, test } from 'vitest';
import type { NoConfiner } from '../../agents/process/sandbox.ts';
import { findTraits } from '../../core/model/agent-traits.ts';
import type { NightshiftError } from '../../core/model/errors.ts';
import { compileShift } from '../../formats/compile.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import { refuseSandbox, requireSandbox } from './require-sandbox.ts';

function task(configuration: string, validation = '- Done\n  ```sh\n  true\n  ```') {
  const files = { name: 'n', root: '/r', folder: '/r/n', table: '/r/n/table.csv', managerFile: '/r/n/manager.md' };
  const manager = parseManager('## Shift Configuration\n\n## Task Order\n\n1. a\n', files.managerFile);
  const text = `## Configuration\n${configuration}\n## Steps\n1. Do\n## Validation\n${validation}\n`;
  const tasks = [{ name: 'a', file: 'a.md', document: parseTask(text, 'a.md') }];
  const findAgent = (name: string) => (name === 'mine' ? findTraits('claude') : findTraits(name));
  return compileShift({ ...files, manager, tasks, secrets: new Map() }, ['name', 'a'], { findAgent }).tasks[0]!;
}

const NONE: NoConfiner = { reason: 'bubblewrap is not installed', remedy: 'install it' };
const HERE = { file: '/usr/bin/bwrap', forbidsNamespaces: true };

async function refusal(configuration: string, here: typeof HERE | NoConfiner = HERE, validation?: string) {
  try {
    await requireSandbox(task(configuration, validation), findTraits, async () => here);
    return undefined;
  } catch (error) {
    const { message, exitCode, file, line } = error as NightshiftError;
    return `${exitCode} ${message} (${file} ${line})`;
  }
}

test('W12 a sandbox that is not possible here is exit code 6 with its place, and none is asked for without the key', async () => {
  expect(await refusal('- agent: claude\n- sandbox: true', NONE)).toBe(
    '6 a asks for a sandbox: bubblewrap is not installed (a.md 3)',
  );
  expect(await refusal('- agent: claude\n- sandbox: true')).toBe(undefined);
  expect(await refusal('- agent: claude\n- sandbox: false', NONE)).toBe(undefined);
  expect(await refusal('- agent: claude', NONE)).toBe(undefined);
});

test('W12 offline is refused for an agent that needs its model, also for the qa alone', async () => {
  const says = '2 `sandbox: offline` of a leaves the agent claude without its model (a.md 3)';
  expect(await refusal('- agent: claude\n- sandbox: offline')).toBe(says);
  expect(await refusal('- agent: shell\n- sandbox: offline')).toBe(undefined);
  expect(await refusal('- command: x\n- sandbox: offline\n- agent: command\n- qa-agent: claude', HERE, '- Good')).toBe(
    says,
  );
});

test('W12 agents that Nightshift does not start itself are never run without the sandbox they should have', async () => {
  expect(await refusal('- agent: mine\n- sandbox: true')).toMatch(/^6 the agent mine of a can't be confined/);
  expect(() => refuseSandbox(task('- agent: claude\n- sandbox: true'))).toThrow('run without one');
  expect(() => refuseSandbox(task('- agent: claude'))).not.toThrow();
});
