import type { AgentUnderTest, User } from './under-test.ts';

/** US dollars for a million tokens. */
const PRICE = { input: 3, output: 15 };

export const opencode: AgentUnderTest = {
  name: 'opencode',
  program: 'opencode',
  configuration: ['model: loopback/scripted'],
  prepare,
  tools: {
    read: (path) => ({ tool: 'read', input: { filePath: path } }),
    write: (path, content) => ({ tool: 'write', input: { filePath: path, content } }),
    bash: (command) => ({ tool: 'bash', input: { command, description: 'Runs it' } }),
  },
  shells: ['bash'],
  writing: ['write', 'edit', 'patch', 'multiedit', 'apply_patch'],
  mcpTool: (server) => `${server}_mark`,
  hidesTools: true,
  hasEnvironment: false,
  costOf: (input, output) => (input * PRICE.input + output * PRICE.output) / 1_000_000,
};

function prepare({ home, model, servers }: User): Record<string, string> {
  const config = {
    provider: {
      loopback: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
        models: {
          scripted: { limit: { context: 200_000, output: 8000 }, cost: PRICE },
          forgetful: { limit: { context: 60_000, output: 8000 } },
        },
      },
    },
    model: 'loopback/scripted',
    small_model: 'loopback/scripted',
    enabled_providers: ['loopback'],
    autoupdate: false,
    mcp: Object.fromEntries(
      Object.entries(servers).map(([name, { command, args }]) => [
        name,
        { type: 'local', command: [command, ...args] },
      ]),
    ),
  };
  home.write('.config/opencode/opencode.json', JSON.stringify(config));
  return {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}
