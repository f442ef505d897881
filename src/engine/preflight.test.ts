import { expect, it } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { AgentSet, agentNames } from '../agents/registry.ts';
import { AGENT_TRAITS, type AgentTraits } from '../core/model/agent-traits.ts';
import type { Shift } from '../core/model/shift.ts';
import { compileShift } from '../formats/compile.ts';
import { parseManager } from '../formats/manager.ts';
import { parseTask } from '../formats/task.ts';
import { checkAgents, checkModels } from './preflight.ts';

const PLAIN: AgentTraits = { hasModel: false, runsSteps: false, judges: true };

function compiled(configuration: string, steps: string, validation: string): Shift {
  const text = `## Configuration\n- agent: mine\n${configuration}\n## Steps\n${steps}\n## Validation\n${validation}\n`;
  const files = { name: 'n', root: '/r', folder: '/r/n', table: '/r/n/table.csv', managerFile: '/r/n/manager.md' };
  const manager = parseManager('## Shift Configuration\n\n## Task Order\n\n1. a\n', files.managerFile);
  const tasks = [{ name: 'a', file: 'a.md', document: parseTask(text, 'a.md') }];
  return compileShift({ ...files, manager, tasks, secrets: new Map() }, ['name', 'a']);
}

/** Checks one task that names an agent of the caller's own, which has these traits. */
async function check(traits: AgentTraits, configuration: string, steps: string, validation: string): Promise<unknown> {
  const shift = compiled(configuration, steps, validation);
  const agent = { name: 'mine', ...traits, credentials: [], missing: async () => undefined } as unknown as Agent;
  const find = (name: string) => (name === 'mine' ? agent : undefined);
  return checkAgents(shift, find, ['mine'], () => ({})).catch(({ code, message }) => `${code}: ${message}`);
}

const STEP = '1. Do\n   ```sh\n   true\n   ```';
const CHECK = '- Done\n  ```sh\n  true\n  ```';

it.each<[string, AgentTraits, string, string, string, string | undefined]>([
  ['any steps', PLAIN, '', '1. Do', '- Done', undefined],
  [
    'steps',
    { ...PLAIN, runsSteps: true },
    '',
    '1. Do',
    '- Done',
    'step 1 of a has no `sh` or `bash` block, and the agent mine',
  ],
  ['scripts', { ...PLAIN, runsSteps: true }, '', STEP, '- Done', undefined],
  ['criteria', { ...PLAIN, judges: false }, '', STEP, '- Done', 'criterion 1 of a has no check, and the agent mine'],
  ['qa: always', { ...PLAIN, judges: false }, '- qa: always', STEP, CHECK, 'needs an agent that can judge; mine'],
  ['checks', { ...PLAIN, judges: false }, '', STEP, CHECK, undefined],
  ['no command', { ...PLAIN, needs: 'command' }, '', STEP, CHECK, 'a is for the agent mine, but no command is set'],
  ['no acp-command', { ...PLAIN, needs: 'acp-command' }, '- command: x', STEP, CHECK, 'no acp-command is set'],
  ['acp-command', { ...PLAIN, needs: 'acp-command' }, '- acp-command: x', STEP, CHECK, undefined],
])(
  'X1 X3 what an agent is decides what its task needs: %s',
  async (_, traits, configuration, steps, validation, says) => {
    const result = await check(traits, configuration, steps, validation);
    if (says === undefined) expect(result).toBeUndefined();
    else expect(result).toMatch(new RegExp(`^bad-task: .*${says}`));
  },
);

it('X5 a model or login that is certainly missing is found without a run, for the dev and for its qa', async () => {
  const asked: (string | undefined)[] = [];
  const agent = (name: string) =>
    ({
      ...{ name, ...PLAIN, credentials: [], missing: async () => undefined },
      unusable: async ({ model }: { model?: string }) => {
        asked.push(`${name} ${model}`);
        return model === 'gone' ? 'there is no model gone: choose another' : undefined;
      },
    }) as unknown as Agent;
  const result = (configuration: string, validation: string) =>
    checkModels(compiled(configuration, STEP, validation), agent, () => ({})).catch(
      ({ code, message, hint, line }) => `${code}: ${message}: ${hint} (${line})`,
    );
  const says = (name: string, line: number) =>
    `agent-missing: the agent ${name} of a can't be used: there is no model gone: choose another (${line})`;
  expect(await result('- model: gone', CHECK)).toBe(says('mine', 3));
  expect(await result('- model: here\n- qa-model: gone', '- Done')).toBe(says('mine', 4));
  expect(await result('- qa-agent: other\n- qa-model: gone', '- Done')).toBe(says('other', 4));
  asked.length = 0;
  // Nothing is asked of a qa that judges nothing; another agent does not get the dev's model.
  expect(await result('- qa-agent: other\n- qa-model: gone', CHECK)).toBeUndefined();
  expect(await result('- model: here\n- qa-agent: other', '- Done')).toBeUndefined();
  expect(asked).toEqual(['mine undefined', 'mine here', 'other undefined']);
});

it('S4 why a program can not be used is told without secrets', async () => {
  const said = 'the key s3cr3t-value was refused';
  const agent = { name: 'mine', ...PLAIN, credentials: [], unusable: async () => said } as unknown as Agent;
  const shift = { ...compiled('', STEP, CHECK), secrets: { KEY: 's3cr3t-value' } };
  const told = checkModels(
    shift,
    () => agent,
    () => ({}),
  );
  await expect(told).rejects.toMatchObject({ hint: 'the key [KEY] was refused' });
});

it('X1 every agent has the traits that the files are checked by', async () => {
  await using set = new AgentSet();
  expect(agentNames).toEqual(Object.keys(AGENT_TRAITS));
  for (const [name, traits] of Object.entries(AGENT_TRAITS)) expect(set.find(name)).toMatchObject({ name, ...traits });
});
