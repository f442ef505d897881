import { agentContract } from './contract.ts';
import type { AgentUnderTest } from './under-test.ts';

const MODEL = 'claude-sonnet-4-5';

const claude: AgentUnderTest = {
  name: 'claude',
  program: 'claude',
  configuration: [`model: ${MODEL}`],
  prepare({ home, model, servers }) {
    home.write('.claude.json', JSON.stringify({ mcpServers: servers }));
    return {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-ant-of-the-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
  },
  tools: {
    read: (path) => ({ tool: 'Read', input: { file_path: path } }),
    write: (path, content) => ({ tool: 'Write', input: { file_path: path, content } }),
    bash: (command) => ({ tool: 'Bash', input: { command } }),
  },
  shells: ['Bash'],
  writing: ['Write', 'Edit'],
  mcpTool: (server) => `mcp__${server}__mark`,
  hidesTools: true,
  hasEnvironment: true,
  // Its list price: 3 and 15 dollars for a million.
  costOf: (input, output) => (input * 3 + output * 15) / 1_000_000,
};

agentContract(claude);
