import type { ToolKind } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import type { Opening } from '../agent.ts';
import { readProtocolError } from './failure.ts';
import { type Call, isBreach, mayUse } from './rules.ts';
import { AcpUpdates } from './turn.ts';

const KINDS: ToolKind[] = [
  'read',
  'search',
  'think',
  'edit',
  'delete',
  'move',
  'execute',
  'fetch',
  'switch_mode',
  'other',
];
const call = (kind: ToolKind, more: Partial<Call> = {}): Call => ({ title: 'it', kind, paths: [], ...more });
const opening = (role: Opening['role'], ...tools: string[]) =>
  ({ role, settings: { tools }, folder: '/w/a', shiftFolder: '/w/.nightshift/s' }) as unknown as Opening;
const allowed = (...who: Parameters<typeof opening>) => KINDS.filter((kind) => mayUse(call(kind), opening(...who)));

test('D2 Q2 what a program may do when it asks, by role', () => {
  expect(allowed('dev')).toEqual(['read', 'search', 'think', 'edit', 'delete', 'move']);
  expect(allowed('dev', 'bash')).toEqual(['read', 'search', 'think', 'edit', 'delete', 'move', 'execute']);
  expect(allowed('qa', 'bash')).toEqual(['read', 'search', 'think']);
  expect(allowed('manager', 'bash')).toEqual([]);
});

test('D2 a tool of an MCP server is known by the name in front of it, and only where it is named', () => {
  for (const title of ['alpha_mark', 'mcp__alpha__mark', 'alpha: mark', 'mark (alpha MCP Server)', 'Alpha.mark']) {
    expect(mayUse(call('other', { title }), opening('dev', 'alpha'))).toBe(true);
    expect(mayUse(call('other', { title }), opening('qa', 'alpha'))).toBe(true);
    expect(mayUse(call('other', { title }), opening('dev', 'beta'))).toBe(false);
  }
  expect(mayUse(call('other', { title: 'alphabet_mark' }), opening('dev', 'alpha'))).toBe(false);
  expect(mayUse(call('execute', { title: 'alpha_mark' }), opening('dev', 'alpha'))).toBe(false);
  // The shell is no server: a qa does not get it by its name.
  expect(mayUse(call('other', { title: 'bash: touch x' }), opening('qa', 'bash', 'alpha'))).toBe(false);
});

test('D5 no edit of the shift, however its path is told', () => {
  const dev = opening('dev');
  for (const path of ['/w/.nightshift/s/table.csv', '../.nightshift/s/tasks/x.md', '/w/a/../.nightshift/s']) {
    expect(mayUse(call('edit', { paths: [path] }), dev)).toBe(false);
    expect(mayUse(call('edit', { input: { edits: [{ filePath: path, text: 'x' }] } }), dev)).toBe(false);
  }
  expect(
    mayUse(call('edit', { paths: ['/w/a/b.txt', '/w/.nightshift/s2/x', '..'], input: { content: 'a\nb' } }), dev),
  ).toBe(true);
});

test('D2 what was done without asking is a breach only where the kind says what it was', () => {
  const breaches = (...who: Parameters<typeof opening>) =>
    KINDS.filter((kind) => isBreach(call(kind), opening(...who)));
  expect(breaches('dev')).toEqual(['execute', 'fetch']);
  expect(breaches('dev', 'bash')).toEqual(['fetch']);
  expect(breaches('qa', 'bash')).toEqual(['edit', 'delete', 'move', 'execute', 'fetch']);
});

test('S4 a thought that comes in pieces is told as one, so that a secret in it is found', () => {
  const told: object[] = [];
  const updates = new AcpUpdates(
    (entry) => told.push(entry),
    () => {},
  );
  const chunk = (sessionUpdate: 'agent_thought_chunk' | 'agent_message_chunk', text: string) =>
    updates.read({ sessionUpdate, content: { type: 'text', text } });
  for (const piece of ['the key is hun', 'ter', '22']) chunk('agent_thought_chunk', piece);
  chunk('agent_message_chunk', 'done');
  chunk('agent_thought_chunk', 'well');
  updates.end();
  expect(told).toEqual([
    { kind: 'note', text: 'the key is hunter22' },
    { kind: 'text', text: 'done' },
    { kind: 'note', text: 'well' },
  ]);
});

const error = (message: string, code: number, data?: unknown) => Object.assign(new Error(message), { code, data });

test.each([
  [error('Authentication required', -32_000), /log in/],
  [error('Internal error', -32_603, { status: 401 }), /log in/],
  [error('Internal error: invalid x-api-key', -32_603), /log in/],
  [error('Internal error: API Error: 529 overloaded', -32_603), undefined],
  [error('Internal error', -32_603, { statusCode: 503 }), undefined],
  [error('Rate limit exceeded', -32_603), undefined],
])('X5 an error of the protocol that is not the fault of the item: %s', (cause, remedy) => {
  const { trouble } = readProtocolError(cause) as { trouble: { reason: string; remedy?: string } };
  expect(trouble.reason).toBe(`acp: ${cause.message}`);
  if (remedy) expect(trouble.remedy).toMatch(remedy);
  else expect(trouble.remedy).toBeUndefined();
});

test('R9 any other error of the protocol is a failed attempt', () => {
  expect(readProtocolError(error('Internal error: prompt too long', -32_603))).toMatchObject({ kind: 'failed' });
});
