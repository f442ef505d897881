import { expect, test } from 'vitest';
import { keptWorkspaces, workspacesWithoutRow } from './kept.ts';

const worktree = (row: number) => ({ row, kind: 'worktree' as const });

test('W7 a workspace of another kind than the shift asks for now is used until it is removed, and said', () => {
  expect(keptWorkspaces([worktree(1)], 'worktree')).toBeUndefined();
  expect(keptWorkspaces([], undefined)).toBeUndefined();
  expect(keptWorkspaces([worktree(3), { row: 4, kind: 'clone' }, { row: 5, kind: 'copy' }], 'copy')).toBe(
    '`workspace` is `copy` now, but rows 3, 4 have a workspace (`worktree` and `clone`), which is used until you remove it',
  );
  expect(keptWorkspaces([worktree(3)], undefined)).toBe(
    '`workspace` is `shared` now, but row 3 has a workspace (`worktree`): this run does not use it, and what it holds is kept',
  );
  const many = Array.from({ length: 12 }, (_, i) => worktree(i + 1));
  expect(keptWorkspaces(many, 'clone')).toContain('rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more have');
});

test('W7 workspaces of rows that are gone from the table are told', () => {
  expect(workspacesWithoutRow([])).toBeUndefined();
  const kept = Array.from({ length: 12 }, (_, i) => ({ folder: `/w/${i + 1}` }));
  expect(workspacesWithoutRow(kept.slice(0, 2))).toBe(
    'the table no longer has the rows of these workspaces, which are kept: /w/1, /w/2',
  );
  expect(workspacesWithoutRow(kept)).toMatch(/\/w\/10 and 2 more$/);
});
