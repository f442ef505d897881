import type { DeliveryFailure } from '../../core/workspace/workspaces.ts';
import type { MergeRecord } from '../records.ts';
import type { Branches } from './branches.ts';
import type { DeskGit } from './desk-git.ts';
import { failed } from './failure.ts';
import type { RowResult } from './row-result.ts';

export interface MergeRequest {
  readonly into: string;
  /** The row's commit, and the commit before it; undefined: it is the first of the repository. */
  readonly commit: string;
  readonly base: string | undefined;
  /** What deliveries of this row have merged, or were about to. */
  readonly merges: readonly MergeRecord[];
  /** What the workspace holds; undefined: it is gone. */
  readonly result: RowResult | undefined;
  /** Runs the checks in the workspace. */
  readonly check: () => Promise<DeliveryFailure | undefined>;
  /** Makes what `into` has of this row, and is about to get, durable before `into` moves. */
  readonly intend: (merges: readonly MergeRecord[]) => Promise<void>;
}

export type Merged = { readonly kind: 'merged'; readonly commit: string } | DeliveryFailure;

/** How often `into` may move under our hands. */
const MOST_TRIES = 5;

/** Puts the change of a row on top of `into`: rebase, checks, fast-forward. */
export async function mergeInto(desk: DeskGit, branches: Branches, request: MergeRequest): Promise<Merged> {
  const { into, commit, merges } = request;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const tip = await branches.read(into);
    const earlier = tip === undefined ? [] : await mergedIn(desk, merges, tip);
    const before = earlier.at(-1);
    if (before?.commit === commit) return { kind: 'merged', commit: before.merged };
    const rebased = await rebase(desk, { tip, before }, request);
    if (rebased.kind !== 'rebased') return rebased;
    await request.intend([...earlier, { commit, merged: rebased.commit }]);
    const written = await branches.write(into, { from: tip, to: rebased.commit });
    if (written.kind === 'written') return { kind: 'merged', commit: rebased.commit };
    if (written.kind !== 'moved') return written;
  }
  return { kind: 'trouble', trouble: { reason: `${into} moves all the time: nothing can be merged into it` } };
}

type Rebased = { readonly kind: 'rebased'; readonly commit: string } | Merged;

/** What `into` has of this row. The others were intended and did not happen; one merge at a time may. */
async function mergedIn(desk: DeskGit, merges: readonly MergeRecord[], tip: string): Promise<MergeRecord[]> {
  const found: MergeRecord[] = [];
  for (const each of merges) {
    if ((await desk.has(each.merged)) && (await desk.isAncestor(each.merged, tip))) found.push(each);
  }
  return found;
}

interface Target {
  readonly tip: string | undefined;
  readonly before: MergeRecord | undefined;
}

async function rebase(desk: DeskGit, { tip, before }: Target, request: MergeRequest): Promise<Rebased> {
  const { commit, base, into } = request;
  if (tip === undefined || tip === base) return { kind: 'rebased', commit };
  // A row that is delivered again adds what changed since.
  const isUpdate = before !== undefined && (await isOnBase(desk, before.commit, base));
  const since = isUpdate ? before.commit : base;
  await desk.fetchMissing(tip);
  const merge = await mergeTrees(desk, since, tip, commit);
  if (merge.kind === 'conflict') {
    return describeConflict(desk, { ...merge, base, tip, into });
  }
  if (merge.kind !== 'tree') return merge;
  if (merge.tree === (await desk.files.treeOf(tip))) return { kind: 'merged', commit: tip };
  const failure = await checkWith(desk, request, merge.tree);
  if (failure?.kind === 'failed') {
    return { ...failure, reason: `on top of ${await desk.name(tip)} (${into}): ${failure.reason}; its branch is kept` };
  }
  if (failure !== undefined) return failure;
  return { kind: 'rebased', commit: await copyCommit(desk, commit, { tree: merge.tree, parent: tip }) };
}

async function isOnBase(desk: DeskGit, commit: string, base: string | undefined): Promise<boolean> {
  return (await desk.has(commit)) && (await desk.parents(commit))[0] === base;
}

type MergedTrees =
  | { readonly kind: 'tree'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  | DeliveryFailure;

/**
 * The change from `since` to `theirs`, on top of `ours`. Git finds the common ancestor by history, so both sides get
 * one commit on top of `since`: `--merge-base` needs git 2.40.
 */
async function mergeTrees(
  desk: DeskGit,
  since: string | undefined,
  ours: string,
  theirs: string,
): Promise<MergedTrees> {
  const side = async (name: string, parent: string | undefined, commit: string | undefined) =>
    desk.files.keep(await desk.files.treeOf(commit), { name: `merge/${name}`, parent, message: `${name}\n` });
  const root = since ?? (await side('base', undefined, undefined));
  const [left, right] = [await side('ours', root, ours), await side('theirs', root, theirs)];
  const merged = await desk.run(['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', left, right]);
  if (merged.kind === 'done') return { kind: 'tree', tree: merged.text.split('\0')[0]!.trim() };
  if (merged.kind === 'not-run') return { kind: 'trouble', trouble: { reason: merged.reason } };
  if (merged.code !== 1) return failed('merge', `git can't merge: ${merged.said.trim()}`);
  const paths = merged.said
    .split('\0')
    .slice(1)
    .filter((path) => path.trim() !== '');
  return { kind: 'conflict', paths: [...new Set(paths)] };
}

const NAMED_PATHS = 5;

interface Conflict {
  readonly paths: readonly string[];
  readonly base: string | undefined;
  readonly tip: string;
  readonly into: string;
}

/** Names the commit of `into` that changed the same files last. */
async function describeConflict(desk: DeskGit, { paths, base, tip, into }: Conflict): Promise<DeliveryFailure> {
  const since = base !== undefined && (await desk.isAncestor(base, tip)) ? [`^${base}`] : [];
  const literal = paths.map((path) => `:(top,literal)${path}`);
  const args = ['log', '-1', '--no-show-signature', '--format=%h %s', tip, ...since, '--', ...literal];
  const log = await desk.run(args);
  const found = (log.kind === 'done' && log.text.trim()) || (await desk.name(tip));
  const more = paths.length > NAMED_PATHS ? ` and ${paths.length - NAMED_PATHS} more` : '';
  const named = `${paths.slice(0, NAMED_PATHS).join(', ')}${more}`;
  return failed(`conflict with ${found}`, `it conflicts in ${named} with ${found} (${into}); its branch is kept`);
}

/** The checks see the merged files, and what `setup` made. If they fail, the files are as they were. */
async function checkWith(
  desk: DeskGit,
  { result, base, check }: MergeRequest,
  tree: string,
): Promise<DeliveryFailure | undefined> {
  if (result === undefined) return failed('workspace', "its workspace is gone, so its checks can't run again");
  const { files, change } = result;
  await desk.settle(files, base);
  await desk.files.checkOut(await desk.files.transfer({ from: change, to: tree, onto: files }));
  const failure = await check();
  if (failure !== undefined) await desk.files.checkOut(files);
  return failure;
}

/** The same author and message, on another parent. */
async function copyCommit(
  desk: DeskGit,
  commit: string,
  { tree, parent }: { readonly tree: string; readonly parent: string },
): Promise<string> {
  const args = [
    'log',
    '-1',
    '--no-show-signature',
    '--no-use-mailmap',
    '--format=%an%n%ae%n%ad',
    '--date=raw',
    commit,
    '--',
  ];
  const [name = '', email = '', date = ''] = (await desk.ask("git can't read a commit", args)).split('\n');
  const env = { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: `@${date}` };
  const input = `${await desk.message(commit)}\n`;
  return desk.ask("git can't make a commit", ['commit-tree', '-p', parent, tree], { input, env });
}
