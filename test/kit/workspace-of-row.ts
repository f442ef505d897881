import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Desk } from '../../src/workspace/desk.ts';
import type { WorkspaceRecord } from '../../src/workspace/records.ts';
import { readSource } from '../../src/workspace/source.ts';
import type { ShiftHandle } from '../harness.ts';
import { type Repository, realGit } from './real-git.ts';

const signal = new AbortController().signal;

/** Makes the workspace of a row (1-based) by hand, as a run leaves it: folder, branch, desk and record. */
export async function makeWorkspace(
  shift: ShiftHandle,
  repository: Repository,
  row: number,
  more: Partial<WorkspaceRecord> = {},
): Promise<WorkspaceRecord & { write(file: string, content: string | Uint8Array): void }> {
  const { project, name } = shift;
  const { item: id, label } = JSON.parse((await project.run(['show', name, String(row), '--json'])).stdout);
  const slug = String(label).replaceAll('.', '-');
  const folder = project.path('..', `${project.root.split('/').at(-1)}-workspaces`, `${row}-${slug}`);
  const branch = `nightshift/${name}/${slug}`;
  const base = repository.git('rev-parse', 'HEAD');
  repository.git('worktree', 'add', '-q', '-b', branch, folder, base);
  const engine = project.path(shift.folder, '.engine');
  const file = id.replace(/[^\w-]/g, '_');
  const source = await readSource(realGit, repository.folder, join(engine, 'sources', 'one'), signal);
  const desk = await Desk.open(
    realGit,
    { folder: join(engine, 'desks', file), workspace: folder, source, branch },
    signal,
  );
  await desk.tree(base);
  const made = { state: 'ready', madeAt: '2026-01-02T00:00:00.000Z' } as const;
  const record = {
    id,
    row,
    slug,
    kind: 'worktree',
    folder,
    from: repository.folder,
    branch,
    base,
    ...made,
    ...more,
  } as const;
  mkdirSync(join(engine, 'workspaces'), { recursive: true });
  writeFileSync(recordFile(shift, id), JSON.stringify(record));
  return { ...record, write: (path, content) => writeFileSync(join(folder, path), content) };
}

export function recordFile({ project, folder }: ShiftHandle, id: string): string {
  return project.path(folder, '.engine', 'workspaces', `${id.replace(/[^\w-]/g, '_')}.json`);
}
