import { expect, test } from 'vitest';
import type { Preview } from '../app/preview-task.ts';
import type { FilledWorkspace } from '../core/workspace/plan.ts';
import { previewLines } from './preview.ts';

function linesOf(workspace: FilledWorkspace | undefined): string[] {
  const order = { workspace, settings: {} };
  return previewLines({ order: order as unknown as Preview['order'], judge: '', sent: { scripts: [] }, checks: [] });
}

test('W1 preview says which workspace the row gets, and how its result is delivered', () => {
  expect(linesOf(undefined)).toEqual([]);
  const none = { kind: 'none', when: 'done' } as const;
  expect(linesOf({ kind: 'copy', include: [], delivery: none })).toEqual(['--- workspace: copy', 'deliver: none']);
  const workspace: FilledWorkspace = {
    kind: 'clone',
    repo: ['https://', { env: 'TOKEN' }, '@host/r'],
    base: ['main'],
    branch: ['fix/x'],
    include: [],
    setup: { source: 'npm ci "$NIGHTSHIFT_V_a"', values: { NIGHTSHIFT_V_a: 'x' }, line: 3 },
    delivery: { kind: 'pr', when: 'approved', into: ['next'], message: ['Fix it'] },
  };
  expect(linesOf(workspace)).toEqual([
    '--- workspace: clone',
    'repo: https://[TOKEN]@host/r',
    'branch: fix/x',
    'base: main',
    'deliver: pr, when you approve it',
    'into: next',
    'message: Fix it',
    '--- setup, run in a fresh workspace',
    'npm ci "$NIGHTSHIFT_V_a"',
    '# with:',
    '#   NIGHTSHIFT_V_a = "x"',
  ]);
});
