import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codexAgent } from '../../src/agents/codex/codex.ts';
import { CodexDialect } from './codex-dialect.ts';
import { agentContract } from './contract.ts';
import { Model, type Step, SUCCESS, verdict } from './model.ts';
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
    expect(sessionsOf(one.home.path('.codex/sessions'))).toEqual([]);
  });

  test('D2 a model that calls its tools by JavaScript is held by the same sandbox', async () => {
    const one = caseFor({ ...codex, configuration: ['model: gpt-6.1-sol'] }, model);
    const name = one.unique('a');
    const script = (cmd: string): Step => ({
      tool: 'exec',
      input: { input: `const r = await tools.exec_command(${JSON.stringify({ cmd })}); text(r.output);` },
    });
    const beyond = `${one.project.root}-beyond`;
    const dev = [script(`touch ${name}.txt; touch ${beyond}`), { report: SUCCESS }];
    const qa = [script('touch by-qa'), verdict([`${name}.txt is there`])];
    const shift = one.shift([{ name, dev, qa }]);
    expect((await one.start(shift)).code).toBe(0);
    expect([one.project.exists(`${name}.txt`), one.project.exists('by-qa'), existsSync(beyond)]).toEqual([
      true,
      false,
      false,
    ]);
    const offered = model.of(name)[0]!.tools;
    expect(offered.filter((tool) => /agent|spawn|goal|sleep|search|image/.test(tool))).toEqual([]);
  });

  test('D3 M6 a session that was compacted says so', async () => {
    const one = caseFor(codex, model);
    one.home.write(
      '.codex/config.toml',
      `model_auto_compact_token_limit = 20000\n${one.home.read('.codex/config.toml')}`,
    );
    const name = one.unique('a');
    const dev: Step[] = [{ ...shell('true'), usage: { input: 50_000, output: 10 } }, { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED });
    const { code, events } = await one.start(shift);
    expect(code).toBe(0);
    expect(events.find(({ type }) => type === 'dev:finished')).toMatchObject({ compacted: true });
  });

  test('D2 an MCP server of the user that is not named is not even started', async () => {
    const one = caseFor(codex, model);
    const server = `[mcp_servers."some.server"]\ncommand = "touch"\nargs = [${JSON.stringify(one.project.path('started'))}]\n`;
    one.home.write('.codex/config.toml', one.home.read('.codex/config.toml') + server);
    const shift = one.shift([{ name: one.unique('a'), dev: [{ report: SUCCESS }] }], { validation: CHECKED });
    expect((await one.start(shift)).code).toBe(0);
    expect(one.project.exists('started')).toBe(false);
  });

  test('X5 an MCP server that does not come up is said, and uses up no attempt', async () => {
    const one = caseFor(codex, model);
    one.project.write('.mcp.json', JSON.stringify({ mcpServers: { broken: { command: 'false' } } }));
    const name = one.unique('a');
    const shift = one.shift([{ name }], { validation: CHECKED, configuration: '- tools: broken' });
    const { code, events, stderr } = await one.start(shift);
    expect(code).toBeGreaterThan(3);
    expect(`${JSON.stringify(events)}${stderr}`).toMatch(/required MCP servers failed to initialize: broken/);
    expect(shift.column('work')).toEqual(['todo']);
  });

  test('doctor: version and login', async () => {
    const one = caseFor(codex, model);
    const { OPENAI_API_KEY: _, ...environment } = one.environment;
    expect(await codexAgent.inspect!({ environment })).toMatchObject({
      version: '0.166.0',
      tested: '0.166.0',
      isLoggedIn: false,
    });
    one.home.write('.codex/auth.json', JSON.stringify({ OPENAI_API_KEY: 'sk-none' }));
    expect(await codexAgent.inspect!({ environment })).toMatchObject({ isLoggedIn: true });
    const nowhere = await codexAgent.inspect!({ environment: { PATH: '/usr/bin:/bin' } });
    expect(nowhere?.version).toBeUndefined();
    expect(nowhere?.hint).toContain('npm install');
  });
});

function sessionsOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
}
