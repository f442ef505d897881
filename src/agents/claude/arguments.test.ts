import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claudeArguments, differenceFrom, wantedTools } from './arguments.ts';
import { configuredServers, removeSession } from './home.ts';
import type { InForce } from './stream.ts';

test('D2 Q2 the tools of each role, and whatever else is in force instead is found', () => {
  const wanted = (role: 'dev' | 'qa' | 'manager', tools: string[] = []) =>
    wantedTools({ role, settings: { tools, model: 'claude-sonnet-4-5' } });
  expect(wanted('dev').tools).toEqual(['Read', 'Write', 'Edit', 'Glob', 'Grep']);
  expect(wanted('dev', ['bash', 'shop'])).toMatchObject({ tools: expect.arrayContaining(['Bash']), servers: ['shop'] });
  expect(wanted('qa', ['bash', 'shop'])).toMatchObject({ tools: ['Read', 'Glob', 'Grep'], servers: ['shop'] });
  expect(wanted('manager', ['bash', 'shop'])).toMatchObject({ tools: [], servers: [] });

  const tools = ['Edit', 'Glob', 'Grep', 'Read', 'StructuredOutput', 'Write'];
  const usual: InForce = { tools, servers: [], model: 'claude-sonnet-4-5', permissionMode: 'dontAsk' };
  const found = (named: string[], more: Partial<InForce>) =>
    differenceFrom(wanted('dev', named), { ...usual, ...more })?.reason;
  const shop = (status: string) => ({ servers: [{ name: 'my shop', status }] });
  const withTool = { tools: [...tools, 'mcp__my_shop__buy'] };
  expect(found([], {})).toBeUndefined();
  expect(found(['my shop'], { ...shop('connected'), ...withTool })).toBeUndefined();
  expect(found(['my shop'], shop('failed'))).toBe('the MCP server my shop did not connect (failed)');
  expect(found(['my shop'], {})).toBe('the MCP server my shop did not connect (not there)');
  expect(found([], shop('connected'))).toBe('the MCP server my shop is there, which no `tools:` names');
  expect(found([], withTool)).toBe('the tool mcp__my_shop__buy is there, which was not asked for');
  expect(found(['bash'], {})).toBe('the tool Bash is not there');
  expect(found([], { permissionMode: 'acceptEdits' })).toBe('the permission mode is acceptEdits instead of dontAsk');
  expect(found([], { model: 'claude-haiku-4-5' })).toBe('the model is claude-haiku-4-5 instead of claude-sonnet-4-5');
  const short = wantedTools({ role: 'dev', settings: { tools: [], model: 'sonnet[1m]' } });
  expect(differenceFrom(short, usual)).toBeUndefined();
});

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'nightshift-claude-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('D2 the MCP servers of the user, of .mcp.json and of the project, the nearer first', async () => {
  const project = join(home, 'project');
  const folder = join(project, 'part');
  mkdirSync(folder, { recursive: true });
  const servers = (...names: [string, string][]) => ({
    mcpServers: Object.fromEntries(names.map(([name, command]) => [name, { command }])),
  });
  const projects = { [project]: servers(['c', 'of the project']), [join(home, 'other')]: servers(['d', 'of another']) };
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({ ...servers(['a', 'of the user'], ['b', 'of the user']), projects }),
  );
  writeFileSync(join(project, '.mcp.json'), JSON.stringify(servers(['b', 'above'], ['c', 'above'])));
  writeFileSync(join(folder, '.mcp.json'), '{ broken');
  expect(await configuredServers(folder, { HOME: home })).toEqual({
    a: { command: 'of the user' },
    b: { command: 'above' },
    c: { command: 'of the project' },
  });
  expect(await configuredServers(join(home, 'nowhere'), { HOME: '/nowhere', CLAUDE_CONFIG_DIR: home })).toMatchObject({
    a: { command: 'of the user' },
  });
});

test('D3 a session is begun once and then gone on with; nothing of it is left, and all else of the user is', async () => {
  const opening = { folder: '/project', shiftFolder: '/project/.nightshift/night' };
  const run = {
    opening,
    wanted: wantedTools({ role: 'manager', settings: { tools: ['bash'] } }),
    schema: {},
    session: 'S',
  };
  const begun = claudeArguments({ ...run, goesOn: false, serversFile: '/tmp/servers' });
  expect(begun.slice(-2)).toEqual(['--session-id', 'S']);
  expect(begun).toEqual(expect.arrayContaining(['{"permissions":{"deny":["Edit(//project/.nightshift/**)"]}}']));
  expect(begun[begun.indexOf('--tools') + 1]).toBe('');
  expect(claudeArguments({ ...run, goesOn: true, serversFile: '/tmp/servers' }).slice(-2)).toEqual(['--resume', 'S']);

  const files = ['mine/S.jsonl', 'mine/S/tool-results/1.txt', 'both/S.jsonl', 'both/T.jsonl', 'other/T.jsonl'];
  for (const file of files) {
    mkdirSync(join(home, '.claude/projects', file, '..'), { recursive: true });
    writeFileSync(join(home, '.claude/projects', file), '');
  }
  await removeSession('S', { HOME: home });
  const left = readdirSync(join(home, '.claude/projects'), { recursive: true, encoding: 'utf8' });
  expect(left.sort()).toEqual(['both', 'both/T.jsonl', 'other', 'other/T.jsonl']);
});
