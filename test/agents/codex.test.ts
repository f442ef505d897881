import { afterAll, beforeAll } from 'vitest';
import { CodexDialect } from './codex-dialect.ts';
import { agentContract } from './contract.ts';
import type { AgentUnderTest, User } from './under-test.ts';

let dialect: CodexDialect;
beforeAll(async () => {
  dialect = await CodexDialect.start();
});
afterAll(() => dialect.stop());

const codex: AgentUnderTest = {
  name: 'codex',
  program: 'codex',
  // Codex knows this one, and with it has apply_patch.
  configuration: ['model: gpt-5.5'],
  prepare,
  tools: {
    read: (path) => ({ tool: 'exec_command', input: { cmd: `cat ${path}` } }),
    write: (path, content) => ({ tool: 'apply_patch', input: { input: addFile(path, content) } }),
    bash: (command) => ({ tool: 'exec_command', input: { cmd: command, yield_time_ms: 30_000 } }),
  },
  shells: ['exec_command'],
  writing: ['apply_patch'],
  mcpTool: (server) => `mcp__${server}.mark`,
  hidesTools: false,
  hasLockedShell: true,
  hasEnvironment: true,
};

function prepare({ home, model, servers }: User): Record<string, string> {
  const mcp = Object.entries(servers).map(
    ([name, { command, args }]) =>
      `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
  );
  home.write(
    '.codex/config.toml',
    `model_provider = "loopback"
sandbox_mode = "danger-full-access"
[model_providers.loopback]
name = "loopback"
base_url = "${dialect.urlOf(model.url)}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
${mcp.join('')}`,
  );
  return { OPENAI_API_KEY: 'none' };
}

function addFile(path: string, content: string): string {
  const lines = content.replace(/\n$/, '').split('\n');
  return ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), '*** End Patch', ''].join(
    '\n',
  );
}

agentContract(codex);
