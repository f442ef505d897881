import type { Desk } from '../desk.ts';
import type { WorkspaceRecord } from '../records.ts';
import { changeOf } from '../transfer.ts';

/** Trees of a row. */
export interface RowResult {
  /** What its files hold. */
  readonly files: string;
  /** What is delivered of it: without what `setup` made. */
  readonly change: string;
}

/** What the last task left. Undefined: nothing is recorded. */
export async function recordedResult(desk: Desk, record: WorkspaceRecord): Promise<RowResult | undefined> {
  const commit = record.results?.at(-1)?.commit;
  if (commit === undefined) return undefined;
  return withChange(desk, record, await desk.treeOf(commit));
}

/** What the files hold now, or why a commit would lack something of it. */
export async function readResult(desk: Desk, record: WorkspaceRecord): Promise<RowResult | string> {
  const { base } = record;
  const files = await desk.tree(base);
  return (await desk.refusal(base)) ?? (await withChange(desk, record, files));
}

async function withChange(desk: Desk, record: WorkspaceRecord, files: string): Promise<RowResult> {
  return { files, change: await changeOf(desk, record, files) };
}
