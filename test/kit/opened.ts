import { expect } from 'vitest';
import type { OpenWorkspace, WorkspaceFailure } from '../../src/core/workspace/workspaces.ts';

/** Fails unless there is a workspace. */
export function opened(result: OpenWorkspace | WorkspaceFailure): OpenWorkspace {
  expect(result).toMatchObject({ kind: 'open' });
  return result as OpenWorkspace;
}

/** What an item changed in its workspace, as `added a.txt`. */
export async function changed(workspace: OpenWorkspace): Promise<string[]> {
  const found = await workspace.change(new AbortController().signal);
  if (found.kind !== 'change') throw new Error(JSON.stringify(found));
  return found.change.files.map(({ kind, path }) => `${kind} ${path}`);
}
