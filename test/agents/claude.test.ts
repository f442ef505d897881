import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../../src/agents/agent.ts';
import { claudeAgent } from '../../src/agents/claude/claude.ts';
import { NO_MASK } from '../../src/core/text/mask.ts';
import { Project, task } from '../harness.ts';
import { agentContract, CHECKED } from './contract.ts';
import { Model, SUCCESS } from './model.ts';
import { programVersion } from './programs.ts';
import { type AgentUnderTest, caseFor } from './under-test.ts';

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

describe('claude', () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());

  test('D1 D2 settings of the project are not in force, its CLAUDE.md is read, @ is text, and no session is left', async () => {
    const one = caseFor(claude, model);
    const name = one.unique('a');
    const hook = { hooks: [{ type: 'command', command: `touch ${one.project.path('hooked')}` }] };
    const settings = { hooks: { SessionStart: [hook] }, permissions: { allow: ['Bash'] } };
    one.project.write('.claude/settings.json', JSON.stringify(settings));
    one.project.write('CLAUDE.md', 'The house speaks plainly.');
    one.project.write('note.txt', 'what nobody asked for');
    const steps = '1. Mind what @note.txt is for';
    const dev = [claude.tools.write(`${name}.txt`, 'x'), { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], {
      tasks: { work: task({ configuration: one.configuration(), steps, validation: CHECKED }) },
    });
    expect((await one.start(shift)).code).toBe(0);
    expect(one.project.exists('hooked')).toBe(false);
    const [asked] = model.of(name);
    expect(asked!.text).toContain('The house speaks plainly.');
    expect(asked!.text).toContain('@note.txt');
    expect(asked!.text).not.toContain('what nobody asked for');
    const left = readdirSync(join(one.environment.HOME!, '.claude'), { recursive: true, encoding: 'utf8' });
    expect(left.filter((file) => /-nightshift-|[0-9a-f]{8}-[0-9a-f]{4}/.test(file))).toEqual([]);
  });

  test('D2 an MCP server that does not connect is trouble with that reason', async () => {
    const one = caseFor(claude, model);
    one.project.write('.mcp.json', JSON.stringify({ mcpServers: { broken: { command: '/nowhere/at/all' } } }));
    const name = one.unique('a');
    const options = { configuration: '- tools: broken', validation: CHECKED, settings: { patience: '1s' } };
    const shift = one.shift([{ name, dev: [{ report: SUCCESS }] }], options);
    const { code, events } = await one.start(shift);
    expect(code).toBe(4);
    expect(shift.column('work')).toEqual(['todo']);
    expect(JSON.stringify(events)).toContain('the MCP server broken did not connect (failed)');
  });

  test('X5 a model that the account does not have ends the run with what to do', async () => {
    const one = caseFor(claude, model);
    const dev = [{ report: SUCCESS, refuse: { status: 404, times: 1000 } }];
    const shift = one.shift([{ name: one.unique('a'), dev }], { validation: CHECKED });
    const { code, events, stderr } = await one.start(shift);
    expect([4, 6]).toContain(code);
    expect(shift.column('work')).toEqual(['todo']);
    expect(`${JSON.stringify(events)}${stderr}`).toMatch(/no such model.*correct `model:`/s);
  });

  test('D5 the program itself refuses to write into the folder of the shifts', async () => {
    const one = caseFor(claude, model);
    const name = one.unique('a');
    const path = one.project.path('.nightshift/night/notes.md');
    const dev = [claude.tools.write(path, 'x'), claude.tools.write(`${name}.txt`, 'x'), { report: SUCCESS }];
    const shift = one.shift([{ name, dev }], { validation: CHECKED });
    expect((await one.start(shift)).code).toBe(0);
    expect(one.project.exists('.nightshift/night/notes.md')).toBe(false);
    const results = one.transcript(shift, 'dev').filter(({ kind }) => kind === 'tool-result');
    expect(results[0]).toMatchObject({ tool: 'Write', isError: true });
    expect(results[1]).toMatchObject({ tool: 'Write', isError: false });
  });

  test('X5 a usage limit is given back with the time at which it ends', async () => {
    const ends = Math.floor(Date.now() / 1000) + 3600;
    const prefix = 'anthropic-ratelimit-unified';
    await using server = await refusing(429, 'rate_limit_error', {
      [`${prefix}-status`]: 'rejected',
      [`${prefix}-reset`]: `${ends}`,
      [`${prefix}-representative-claim`]: 'five_hour',
    });
    const { ANTHROPIC_API_KEY: _, ...environment } = caseFor(claude, model).environment;
    const ask = { ...environment, ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-of-the-test' };
    expect(await askOnce(ask)).toMatchObject({ kind: 'trouble', trouble: { until: ends * 1000 } });
  });

  test('X5 no network, and no login, are told by the program and not by what a model says', async () => {
    const { environment } = caseFor(claude, model);
    const offline = { ...environment, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', CLAUDE_CODE_MAX_RETRIES: '0' };
    const answer = await askOnce(offline);
    expect(answer).toMatchObject({ kind: 'trouble', trouble: { reason: expect.stringContaining('ECONNREFUSED') } });
    const { ANTHROPIC_API_KEY: _, ...stranger } = environment;
    const remedy = expect.stringContaining('claude auth login');
    expect(await askOnce(stranger)).toMatchObject({ kind: 'trouble', trouble: { remedy } });
  });

  test('what doctor is told: version and login, without asking a model', async () => {
    const { environment } = caseFor(claude, model);
    const { ANTHROPIC_API_KEY: _, ...stranger } = environment;
    const version = programVersion('claude');
    expect(await claudeAgent.inspect!({ environment })).toEqual({ version, tested: version, isLoggedIn: true });
    expect(await claudeAgent.inspect!({ environment: stranger })).toMatchObject({ isLoggedIn: false });
    const hint = expect.stringContaining('npm install -g');
    expect(await claudeAgent.inspect!({ environment: { PATH: '/nowhere' } })).toEqual({ tested: version, hint });
  });
});

async function askOnce(environment: Record<string, string>): Promise<Answer> {
  const { root: folder } = new Project();
  await using session = await claudeAgent.open({
    role: 'qa',
    settings: { tools: [] },
    mask: NO_MASK,
    folder,
    scratch: folder,
    shiftFolder: join(folder, '.nightshift/night'),
    transcript: () => {},
    signal: new AbortController().signal,
  });
  return await session.ask({ prompt: 'Well?', schema: { type: 'object' }, steps: [], environment });
}

/** A server that answers every request with the same refusal. */
async function refusing(status: number, type: string, headers: Record<string, string>) {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ type: 'error', error: { type, message: 'no' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
