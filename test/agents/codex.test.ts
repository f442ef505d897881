import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codexAgent } from '../../src/agents/codex.ts';
import { CodexDialect } from './codex-dialect.ts';
import { agentContract } from './contract.ts';
import { Model, type Step, SUCCESS } from './model.ts';
import { type AgentUnderTest, caseFor, type User } from './under-test.ts';

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
  harmless: ['apply_patch', 'request_user_input'],
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

const CHECKED = '- ok\n\n  ```sh\n  true\n  ```';

describe('codex', () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());
  const shell = (cmd: string): Step => codex.tools.bash(cmd);

  /** What a shell tried, with what became of it. */
  const ATTEMPTS = [
    ...['touch inside', 'echo "word=$WORD" >> "$NIGHTSHIFT_OUTPUT"', 'touch "$HOME/at-home"', 'touch .git/hooks/mine'],
    ...['touch "$NIGHTSHIFT_SHIFT_DIR/mine"', 'touch "$NIGHTSHIFT_TABLE"', 'curl -sm 5 "$MODEL_URL" -o got', 'mktemp'],
  ];
  const tryAll = ATTEMPTS.map((attempt, index) => `if ${attempt}; then echo ${index} >> "$TMPDIR/../tried"; fi`);

  test.each([
    ['D2 D5 without bash: no more than reading and editing could do', '', ['0', '1', '7']],
    ['D2 D5 with bash: everything but the files of the shift', '- tools: bash', ['0', '1', '2', '3', '6', '7']],
  ])('%s', async (_, tools, expected) => {
    const one = caseFor(codex, model, { env: `WORD=fortytwo\nMODEL_URL=${model.url}\n` });
    one.project.write('.git/hooks/none', '');
    const name = one.unique('a');
    const line = ATTEMPTS.map((attempt, index) => `(${attempt}) > /dev/null 2>&1 && printf ' ${index}'`).join('; ');
    const dev = [shell(`${line}; echo .`), { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED, configuration: tools });
    expect((await one.start(shift)).code).toBe(0);
    const result = one.transcript(shift, 'dev').find(({ kind }) => kind === 'tool-result')!;
    expect(result.text!.match(/\d/g)).toEqual(expected);
    expect(shift.journal().find(({ type }) => type === 'dev:finished').captured).toEqual({ word: '[WORD]' });
  });
});
