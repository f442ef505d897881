import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../model/events.ts';
import { Doing } from './doing.ts';

const call = (tool: string, input: unknown): TranscriptEntry => {
  return { kind: 'tool-call', tool, text: JSON.stringify(input), mayWrite: true };
};
const PATCH = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** End Patch';

test.each([
  ['opencode', call('edit', { filePath: '/srv/site/src/a.ts', oldString: 'a', newString: 'b' }), 'edit src/a.ts'],
  ['opencode', call('read', { filePath: '/etc/hosts' }), 'read /etc/hosts'],
  ['opencode', call('bash', { command: 'npm test\necho ok', description: 'Tests' }), 'run npm test'],
  ['opencode', call('apply_patch', { patchText: PATCH }), 'edit src/a.ts'],
  ['opencode', call('github_create_issue', { title: 'x' }), 'call github_create_issue'],
  ['opencode', call('StructuredOutput', { overall_status: 'SUCCESS' }), 'report'],
  ['claude', call('Write', { file_path: '/srv/site/b.md', content: 'x' }), 'write b.md'],
  ['claude', call('Bash', { command: 'cd /srv/site && npm test' }), 'run npm test'],
  ['claude', call('constructor', { path: 'a' }), 'call constructor'],
  ['claude', call('Grep', { pattern: 'TODO', path: '/srv/site/src' }), 'search TODO'],
  ['claude', call('TodoWrite', { todos: [{ content: 'a' }] }), 'plan'],
  ['claude', call('mcp__shop__search', { query: 'x' }), 'call mcp__shop__search'],
  ['codex', call('exec_command', { cmd: "/bin/bash -lc 'npm test'" }), 'run npm test'],
  ['codex', call('apply_patch', [{ path: '/srv/site/src/a.ts', kind: 'update' }]), 'edit src/a.ts'],
  ['acp', call('Edit src/a.ts', { title: 'Edit src/a.ts' }), 'Edit src/a.ts'],
  ['acp', call('edit', { path: '/srv/site/src/a.ts' }), 'edit src/a.ts'],
  ['acp', call('odd', 'not \u001b[2J JSON'), 'call odd'],
])('X8 the live view says what %s is doing: %j is %s', (agent, entry, text) => {
  expect(new Doing(agent, '/srv/site').of(entry)).toBe(text);
});

test('X8 the rest of what an agent says is not what it does; a program shows its step and its last line', () => {
  const model = new Doing('claude', undefined);
  const said: TranscriptEntry[] = [
    { kind: 'text', text: 'I will now edit src/a.ts' },
    { kind: 'note', text: 'thinking' },
    { kind: 'output', text: 'noise' },
    { kind: 'tool-result', tool: 'Read', text: 'secret plans', isError: false },
  ];
  expect(said.map((entry) => model.of(entry))).toEqual(said.map(() => undefined));
  const shell = new Doing('shell', undefined);
  const printed: TranscriptEntry[] = [
    { kind: 'note', text: 'step 2' },
    { kind: 'output', text: 'compiling a.c\ncompiling \u001b[31mb.c\n\n---\n' },
    { kind: 'error', text: `${'x'.repeat(300)}\n` },
  ];
  expect(printed.map((entry) => shell.of(entry))).toEqual([
    'step 2',
    'step 2: compiling \uFFFD[31mb.c',
    `step 2: ${'x'.repeat(91)}…`,
  ]);
  const command = new Doing('command', undefined);
  const report = 'half way\n{"overall_status":"SUCCESS",\n"steps":[]}\n';
  expect(command.of({ kind: 'output', text: report })).toBe('half way');
});
