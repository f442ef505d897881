import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NightshiftTools } from './opencode-tools.ts';

interface Rule {
  permission: string;
  pattern: string;
  action: 'allow' | 'deny' | 'ask';
}

const rule = (action: Rule['action'], permission: string, pattern = '*'): Rule => ({ permission, pattern, action });
const PROMPT = '.nightshift/site/.engine/prompts/row-1-dev.md';

/** The rules that a session gets, when its agent is told this, while this batch is open. */
async function given(
  tools: readonly string[],
  {
    agent = 'nightshift-dev',
    text = `Read ${PROMPT} and do what it says.`,
    own = [] as Rule[],
    had = [] as Rule[],
    servers = {},
    batch = '.nightshift/site/.engine',
  } = {},
): Promise<readonly Rule[]> {
  const directory = mkdtempSync(join(tmpdir(), 'nightshift-tools-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  mkdirSync(join(directory, batch), { recursive: true });
  writeFileSync(join(directory, batch, 'batch.json'), JSON.stringify({ tools, items: [{ index: 0 }] }));
  let rules: readonly Rule[] = [];
  const hooks = await NightshiftTools({
    directory,
    client: {
      session: {
        get: async () => ({ data: { permission: had } }),
        update: async ({ body }) => {
          rules = body.permission ?? [];
          return {};
        },
      },
      app: { agents: async () => ({ data: [{ name: agent, permission: own }] }) },
      mcp: { status: async () => ({ data: servers }) },
    },
  });
  await hooks['chat.message']({ sessionID: 's' }, { message: { agent }, parts: [{ text }, {}] });
  return rules;
}

const connected = { status: 'connected' };

test('D2 O2 the shell is given to the dev whose task names it, as the open batch says, and to nobody else', async () => {
  expect(await given(['bash'])).toEqual([rule('allow', 'bash')]);
  expect(await given([])).toEqual([]);
  const prompt = (name: string) => `Read .nightshift/site/.engine/prompts/${name}.md`;
  for (const other of [
    { agent: 'nightshift-qa' },
    { agent: 'nightshift-qa', text: prompt('row-1-qa') },
    { agent: 'nightshift-manager' },
    { agent: 'build' },
    { text: 'Go on.' },
    { text: prompt('row-2-dev') },
    { text: prompt('row-1-qa') },
    { text: `${prompt('row-1-dev')} ${prompt('row-2-dev')}` },
    { text: 'Read .nightshift/other/.engine/prompts/row-1-dev.md' },
    // Where a dev could write.
    { text: 'Read .nightshift/../.engine/prompts/row-1-dev.md', batch: '.engine' },
    { batch: 'elsewhere' },
  ]) {
    expect([other, await given(['bash'], other)]).toEqual([other, []]);
  }
});

test('D2 O2 a server that the task names is given as a whole, but for what the rules say about a part', async () => {
  const servers = { alpha_two: connected, alpha: connected, alpha_two_x: connected, beta: connected };
  const own = [
    rule('deny', '*'),
    rule('deny', 'alpha*'),
    rule('deny', 'alpha_*'),
    rule('ask', 'alpha_delete'),
    rule('allow', 'alpha_delete_own'),
    rule('deny', 'bash'),
    rule('deny', 'bash', 'git push*'),
    rule('deny', 'beta_mark'),
  ];
  const ofAlpha = [
    rule('allow', 'alpha_*'),
    rule('deny', 'alpha_two_*'),
    rule('allow', 'alpha_two_x_*'),
    rule('allow', 'read', 'mcp:alpha:*'),
    rule('allow', 'read', 'mcp:alpha_two_x:*'),
    rule('deny', 'alpha_delete'),
    rule('allow', 'alpha_delete_own'),
  ];
  const tools = ['alpha', 'alpha_two_x'];
  expect(await given(tools, { servers, own })).toEqual(ofAlpha);
  const text = `Read ${PROMPT.replace('dev', 'qa')}`;
  expect(await given(['bash', ...tools], { servers, own, agent: 'nightshift-qa', text })).toEqual(ofAlpha);
  expect(await given(['bash'], { servers, own })).toEqual([rule('allow', 'bash'), rule('deny', 'bash', 'git push*')]);
});

test('D2 O2 an agent is not started without a server that its task names, nor with tools of another task', async () => {
  await expect(given(['alpha'])).rejects.toThrow('MCP server alpha');
  const servers = { alpha: { status: 'disabled' } };
  await expect(given(['alpha'], { servers })).rejects.toThrow('(disabled)');
  const had = [rule('deny', 'task'), rule('allow', 'external_directory'), rule('allow', 'bash')];
  await expect(given([], { had })).rejects.toThrow('a fresh one');
  await expect(given(['bash'], { had: [rule('allow', 'alpha_*')] })).rejects.toThrow('a fresh one');
  expect(await given(['bash'], { had })).toEqual([rule('allow', 'bash')]);
  expect(await given([], { had: had.slice(0, 2) })).toEqual([]);
});
