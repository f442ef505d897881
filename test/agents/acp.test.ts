import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { agentContract } from './contract.ts';
import { Model, SUCCESS } from './model.ts';
import { type AgentUnderTest, caseFor, type User } from './under-test.ts';

// A process for each session, and each takes seconds of a core to start.
vi.setConfig({ testTimeout: 600_000 });

/** US dollars for a million tokens. */
const PRICE = { input: 3, output: 15 };

/** OpenCode again, but as one of the programs that speak ACP. */
const acp: AgentUnderTest = {
  name: 'acp',
  program: 'opencode',
  configuration: ['acp-command: opencode acp', 'model: loopback/scripted'],
  prepare: (user) => prepare(user, 'ask'),
  tools: {
    read: (path) => ({ tool: 'read', input: { filePath: path } }),
    write: (path, content) => ({ tool: 'write', input: { filePath: path, content } }),
    bash: (command) => ({ tool: 'bash', input: { command, description: 'Runs it' } }),
  },
  shells: ['bash'],
  writing: ['write', 'edit'],
  mcpTool: (server) => `${server}_mark`,
  hidesTools: false,
  hasOwnServers: false,
  hasEnvironment: false,
  tellsAllTokens: false,
  tellsTrouble: false,
  costOf: (input, output) => (input * PRICE.input + output * PRICE.output) / 1_000_000,
};

function prepare({ home, model }: User, permission: 'ask' | 'allow'): Record<string, string> {
  const config = {
    provider: {
      loopback: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
        models: { scripted: { limit: { context: 200_000, output: 8000 }, cost: PRICE } },
      },
    },
    small_model: 'loopback/scripted',
    enabled_providers: ['loopback'],
    autoupdate: false,
    permission: { '*': permission },
  };
  home.write('.config/opencode/opencode.json', JSON.stringify(config));
  return {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

agentContract(acp);

const CHECKED = '- ok\n\n  ```sh\n  true\n  ```';

describe('acp', () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());

  test('D2 a program that runs a command without asking is ended, and the run with it', async () => {
    const one = caseFor({ ...acp, prepare: (user) => prepare(user, 'allow') }, model);
    const name = one.unique('a');
    const dev = [acp.tools.bash('true'), acp.tools.write('later.txt', 'x'), { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED });
    const { code, events } = await one.start(shift);
    expect([4, 6]).toContain(code);
    expect(JSON.stringify(events)).toMatch(/without asking: .*docs\/agents.md/);
    expect(shift.column('work')).toEqual(['todo']);
    expect(one.project.exists('later.txt')).toBe(false);
  });

  test.each([
    ['a model that it does not have', 'opencode acp', /no model nobody\/nothing.*it has loopback\/scripted/],
    ['a program that speaks something else', 'echo hello', /did not start: exit code 0/],
    ['a program that fails', 'sh -c "echo no luck >&2; exit 3"', /did not start: exit code 3: no luck/],
  ])('X5 %s ends the run with what to do, and uses up no attempt', async (_, command, reason) => {
    const one = caseFor({ ...acp, configuration: [`acp-command: ${command}`, 'model: nobody/nothing'] }, model);
    const shift = one.shift([{ name: one.unique('a') }], { validation: CHECKED, settings: { patience: '2s' } });
    const { code, events, stderr } = await one.start(shift);
    expect([4, 6]).toContain(code);
    expect(JSON.stringify(events) + stderr).toMatch(reason);
    expect(shift.column('work')).toEqual(['todo']);
  });
});
