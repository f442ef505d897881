import { expect, test } from 'vitest';
import { workspaceEnvironment } from '../../workspace/open-workspace.ts';
import { configContent, mergeContent, permissionRules, serverEnvironment } from './config.ts';

/** As OpenCode decides: the last rule that matches. */
function decide(rules: ReturnType<typeof permissionRules>, tool: string, pattern = 'src/a.ts'): string {
  const matches = (glob: string, text: string) =>
    new RegExp(`^${glob.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's').test(text);
  return rules.findLast((rule) => matches(rule.permission, tool) && matches(rule.pattern, pattern))?.action ?? 'ask';
}

const TOOLS = ['read', 'glob', 'grep', 'edit', 'bash', 'webfetch', 'task', 'question', 'doom_loop', 'anything'];
const allowed = (rules: ReturnType<typeof permissionRules>) => TOOLS.filter((tool) => decide(rules, tool) === 'allow');

test('D2 Q2 a role may do what it needs, the dev what is named besides, and nothing is left to be asked', () => {
  expect(allowed(permissionRules('dev', [], []))).toEqual(['read', 'glob', 'grep', 'edit', 'doom_loop']);
  expect(allowed(permissionRules('dev', ['bash'], []))).toContain('bash');
  expect(allowed(permissionRules('qa', ['bash'], []))).toEqual(['read', 'glob', 'grep', 'doom_loop']);
  expect(allowed(permissionRules('manager', ['bash'], []))).toEqual([]);
  const rules = (['dev', 'qa', 'manager'] as const).map((role) => permissionRules(role, ['bash', 'a'], ['a', 'b']));
  for (const each of rules) expect(each.filter(({ action }) => action === 'ask')).toEqual([]);
});

test('D2 of servers whose names begin alike each is allowed by its own name', () => {
  const servers = ['a_b', 'a', 'a_b_c'];
  const rules = permissionRules('dev', ['a', 'a_b_c'], servers);
  expect(['a_mark', 'a_b_mark', 'a_b_c_mark'].map((tool) => decide(rules, tool))).toEqual(['allow', 'deny', 'allow']);
  expect(decide(permissionRules('manager', ['a'], servers), 'a_mark')).toBe('deny');
});

test('Q2 D5 a tool that is denied is denied as a whole, since one that is denied for some files is still offered', () => {
  const last = (role: 'dev' | 'qa' | 'manager', tool: string) =>
    permissionRules(role, [], []).findLast(({ permission }) => permission === tool || permission === '*');
  expect(last('qa', 'edit')).toEqual({ permission: '*', pattern: '*', action: 'deny' });
  expect(last('manager', 'read')).toEqual({ permission: '*', pattern: '*', action: 'deny' });
  const edit = (file: string) => decide(permissionRules('dev', [], [], 'night'), 'edit', `home/x/.nightshift/${file}`);
  const closed = [
    'night/table.csv',
    'night/manager.md',
    'night/.env',
    'night/.engine/x',
    'archive/night/x.md',
    'other/x.md',
    'x',
  ];
  expect(closed.map(edit)).toEqual(closed.map(() => 'deny'));
  expect(['night/own.md', 'night/notes/x.md'].map(edit)).toEqual(['allow', 'allow']);
});

test('S5 W5 the server has no variables of an item or its workspace, and a mark that tells a test from a shift', () => {
  const ofWorkspace = workspaceEnvironment({ folder: '/w', branch: 'b', base: 'c' }, 20_000);
  const own = { NIGHTSHIFT_SHIFT_DIR: '/s', NIGHTSHIFT_ITEM: '{}', NIGHTSHIFT_KEY: 'test-1', ...ofWorkspace };
  const environment = { PATH: '/bin', ...own };
  expect(serverEnvironment(environment)).toEqual({
    PATH: '/bin',
    NIGHTSHIFT_SHIFT_DIR: '/s',
    NIGHTSHIFT_KEY: 'test-opencode',
  });
  expect(serverEnvironment({ ...environment, NIGHTSHIFT_KEY: 'abc' }).NIGHTSHIFT_KEY).toBe('opencode');
});

test('D2 a configuration in the user’s own variable stays in force below this one', () => {
  const users = { model: 'acme/one', share: 'auto', mcp: { alpha: { type: 'local', command: ['x'] } } };
  const merged = JSON.parse(mergeContent(JSON.stringify(users), configContent(['alpha'])));
  expect(merged).toMatchObject({
    model: 'acme/one',
    share: 'disabled',
    mcp: { alpha: { type: 'local', command: ['x'], enabled: false } },
  });
  expect(merged.agent['nightshift-engine-qa'].permission).toMatchObject({ '*': 'deny', read: 'allow' });
});
