import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  ALLOWED_IN_SHELL,
  DEV_WRITES,
  FORBIDDEN_FILES,
  FORBIDDEN_IN_SHELL,
  FORBIDDEN_LINES,
  layTraps,
  MANAGER_LINES,
  READABLE,
} from '../../../test/guard-actions.ts';
import type { Facts, Role } from './places.ts';
import { isTaskIn, realOf } from './real-path.ts';
import { type Action, refusal, withoutSecrets } from './rules.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-rules-')));
afterAll(() => rmSync(root, { recursive: true }));
for (const folder of ['.nightshift/site/.engine/prompts', '.opencode/plugin'])
  mkdirSync(join(root, folder), { recursive: true });
writeFileSync(
  join(root, '.nightshift/site/manager.md'),
  '# site\n\nown\n\n## Task Order\n\n1. draft\n\n## Notes\n\nown\n',
);
writeFileSync(join(root, '.nightshift/site/table.csv'), 'name,draft\n');
layTraps(root);

function factsOf(role: Role, hasShell = false): Facts {
  return {
    role,
    project: root,
    folder: root,
    told: 'Read .nightshift/site/.engine/prompts/row-1-dev.md and do what it says.',
    hasShell,
    settings: [join(root, 'ci/agents.json')],
    realOf,
    isTask: (shift, task) => isTaskIn(root, shift, task),
  };
}

const line = (text: string): Action => ({ kind: 'shell', line: text });
const write = (path: string): Action => ({ kind: 'write', path });

/** Those of the actions that the rules let through. */
function passed(actions: readonly Action[], facts: Facts): Action[] {
  const atRoot = (action: Action) =>
    'path' in action && action.path ? { ...action, path: action.path.replace('ROOT', root) } : action;
  return actions.filter((action) => refusal(atRoot(action), facts) === undefined);
}

test.each(['manager', 'dev', 'qa'] as const)(
  'O2 the rules refuse a %s all that disarms them, and let the rest pass',
  (role) => {
    const facts = factsOf(role);
    expect(FORBIDDEN_LINES.length + FORBIDDEN_FILES.length).toBeGreaterThan(100);
    // What a dev without a shell runs otherwise, the permission rules of its program deny.
    const ours = role === 'dev' ? [] : FORBIDDEN_LINES;
    expect(passed([...ours.map(line), ...FORBIDDEN_FILES, write('ci/agents.json')], facts)).toEqual([]);
    expect(passed(DEV_WRITES.map(write), facts)).toEqual(role === 'dev' ? DEV_WRITES.map(write) : []);
    expect(passed(READABLE, facts)).toEqual(READABLE);
    expect(passed(MANAGER_LINES.map(line), facts)).toEqual(
      role === 'manager' ? MANAGER_LINES.map(line) : expect.anything(),
    );
    const agents = ['nightshift-dev', 'nightshift-qa', 'nightshift-manager', 'general'];
    const started = passed(
      agents.map((agent) => ({ kind: 'start', agent })),
      facts,
    );
    expect(started).toHaveLength(role === 'manager' ? 2 : 0);
  },
);

test('O2 a dev with a shell runs what it likes, but nothing that names what is closed', () => {
  const dev = factsOf('dev', true);
  expect(FORBIDDEN_IN_SHELL.length).toBeGreaterThanOrEqual(60);
  expect(passed(FORBIDDEN_IN_SHELL.map(line), dev)).toEqual([]);
  expect(passed(ALLOWED_IN_SHELL.map(line), dev)).toEqual(ALLOWED_IN_SHELL.map(line));
  const status = "nightshift table site edit draft 0 failed --token t --reason 'see .opencode and .git/config'";
  expect(passed([status, 'cat .nightshift/site/.engine/prompts/row-1-dev.md'].map(line), dev)).toHaveLength(2);
  // A tool call may say where its command runs.
  const inside = (folder: string, text: string): Action => ({ kind: 'shell', line: text, folder: join(root, folder) });
  expect(passed([inside('.opencode', 'ls'), inside('.nightshift/site', 'cat .env')], dev)).toEqual([]);
  // Without a shell, what a person allowed a dev to run is looked at in the same way.
  expect(passed(['cat .opencode/plugin/x.js', 'cat keep.txt'].map(line), factsOf('dev'))).toEqual([
    line('cat keep.txt'),
  ]);
});

test('O2 a tool that the rules do not know is refused by the paths among its arguments, not by prose', () => {
  const other = (input: unknown): Action => ({ kind: 'other', input });
  const bad = [{ path: '.opencode/x' }, { files: [{ uri: `file://${root}/.nightshift/site/.env` }] }, ['by-hooks/x']];
  const good = [{ url: 'https://x.y/.claude/z' }, { text: 'about .opencode/ and more' }, { path: 'src/x' }, undefined];
  expect(passed([...bad, ...good].map(other), factsOf('dev'))).toEqual(good.map(other));
});

test('O4 what a search found in prompts and .env is left out, and tokens everywhere', () => {
  const [prompt, env] = ['/p/.nightshift/site/.engine/prompts/row-2-dev.md:', '/p/.nightshift/site/.env:'];
  const found = ['Found 4 matches', prompt, '  Line 1: sk-1', '', '  Line 9: sk-2', '', env, '  Line 1: sk-3', ''];
  const kept = ['/p/x.md:', '  Line 2: run nightshift --token 0af'];
  expect(withoutSecrets([...found, ...kept].join('\n')).split('\n')).toEqual([
    ...['Found 4 matches', prompt, env, '/p/x.md:'],
    '  Line 2: run nightshift --token (of somebody else)',
  ]);
});
