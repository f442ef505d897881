import { agentContract } from './contract.ts';
import type { AgentUnderTest, User } from './under-test.ts';

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
