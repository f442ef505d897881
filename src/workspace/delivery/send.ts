import { existsSync } from 'node:fs';
import { mergedBranch } from '../../core/workspace/branch-name.ts';
import { keyIn, NO_VALUES } from '../../core/workspace/delivery.ts';
import type { DeliveryFailure, DeliveryValues } from '../../core/workspace/workspaces.ts';
import { leadingOut } from '../clone.ts';
import { tryGit } from '../git.ts';
import { commitsMadeIn } from '../made-commits.ts';
import type { DeliveryRecord } from '../records.ts';
import { settingIn } from '../settings.ts';
import { environmentIn, inSource } from '../source.ts';
import { gitDirOf, safely } from '../worktree.ts';
import { type Branches, LocalBranches, openIn, RemoteBranches } from './branches.ts';
import { failed } from './failure.ts';
import { mergeInto } from './merge.ts';
import type { DeliveryParts, Outgoing } from './outgoing.ts';
import { writePatch } from './patch.ts';
import { openPullRequest } from './pull-request.ts';

export type Sent =
  | {
      readonly kind: 'sent';
      readonly delivery: DeliveryRecord;
      readonly values: DeliveryValues;
      readonly note?: string;
    }
  | DeliveryFailure;

type Write = (delivery: DeliveryRecord) => Promise<void>;

/** Makes the effects of a delivery, as far as they are not there yet. `write` makes the record durable. */
export async function send(parts: DeliveryParts, outgoing: Outgoing, write: Write): Promise<Sent> {
  const { delivery, record, request, desk } = outgoing;
  if (request.kind === 'patch' && !request.isHeld) {
    const file = await writePatch(desk, record, delivery.commit, parts.patches);
    return { kind: 'sent', delivery, values: NO_VALUES, note: `the patch is in ${file}` };
  }
  const failure = await keepBranch(outgoing);
  if (failure !== undefined) return failure;
  parts.failpoint('delivery:branched');
  if (request.isHeld || request.kind === 'branch') return sent(outgoing);
  if (request.kind === 'merge') return sendMerge(parts, outgoing, write);
  return sendPush(parts, outgoing);
}

function sent({ delivery, record: { branch } }: Outgoing, more: Partial<DeliveryValues> = {}): Sent {
  return { kind: 'sent', delivery, values: { ...NO_VALUES, branch, commit: delivery.commit, ...more } };
}

/** The branch of the row, in the repository that the workspace belongs to. */
async function keepBranch(outgoing: Outgoing): Promise<DeliveryFailure | undefined> {
  const branches = localBranches(outgoing);
  if (branches === undefined) return undefined;
  const { record, delivery } = outgoing;
  const exit = record.kind === 'clone' && existsSync(record.folder) ? leadingOut(record.folder) : undefined;
  if (exit !== undefined) return failed('branch', `${exit} leads out of its workspace: no branch is written there`);
  const isOpen = record.kind === 'worktree' && (await branches.read(record.branch)) !== delivery.commit;
  const inUse = isOpen ? await whyInUse(outgoing, record.branch) : undefined;
  if (inUse !== undefined) return inUse;
  return putBranch(branches, outgoing, (tip) => isAgents(outgoing, tip));
}

/** A branch that a person has checked out elsewhere is not moved under their files. */
async function whyInUse({ desk, record, source }: Outgoing, branch: string): Promise<DeliveryFailure | undefined> {
  const folders = await openIn(desk.git, source!, branch, desk.signal);
  const folder = folders.find((each) => each !== record.folder);
  if (folder === undefined) return undefined;
  const remedy = `check out another branch in ${folder}`;
  return { kind: 'trouble', trouble: { reason: `${branch} is checked out in ${folder}`, remedy } };
}

/** A worktree is part of the person's repository; a clone is one of its own, with settings that its agent wrote. */
function localBranches({ desk, record, source }: Outgoing): LocalBranches | undefined {
  if (source === undefined) return undefined;
  const isClone = record.kind === 'clone';
  return new LocalBranches(
    desk,
    isClone
      ? { folder: record.folder, options: safely(source), env: {} }
      : { folder: source.folder, options: [], env: environmentIn(source) },
  );
}

/** Agents may commit in their workspace; the engine's commit holds the same files. */
async function isAgents({ desk, record, source }: Outgoing, tip: string): Promise<boolean> {
  if (record.kind === 'clone') return true;
  const gitDir = gitDirOf(source!, record.folder);
  if (gitDir === undefined) return false;
  const call = { ...inSource(source!, ['rev-list', '-g', 'HEAD'], desk.signal), env: environmentIn(source!, gitDir) };
  const visited = await tryGit(desk.git, "git can't read where HEAD was", call);
  return visited?.split('\n').includes(tip) ?? false;
}

/** Moves the row's branch to its commit, unless the branch holds work of others. */
async function putBranch(
  branches: Branches,
  outgoing: Outgoing,
  isOurs: (tip: string) => Promise<boolean> = async () => false,
): Promise<DeliveryFailure | undefined> {
  const { record, delivery } = outgoing;
  const { branch } = record;
  const tip = await branches.read(branch);
  if (tip === delivery.commit) return undefined;
  const mayMove =
    tip === undefined || (await isContained(outgoing, tip)) || (await isEarlier(outgoing, tip)) || (await isOurs(tip));
  if (!mayMove) return movedTo(branches, outgoing, tip);
  const written = await branches.write(branch, { from: tip, to: delivery.commit });
  if (written.kind === 'written') return undefined;
  return written.kind === 'moved' ? movedTo(branches, outgoing, await branches.read(branch)) : written;
}

/** An agent may move its branch back: nothing is lost if it moves on. */
async function isContained({ desk, record: { base } }: Outgoing, tip: string): Promise<boolean> {
  return base !== undefined && (tip === base || (await desk.isAncestor(tip, base)));
}

async function movedTo(branches: Branches, { desk, record }: Outgoing, tip?: string): Promise<DeliveryFailure> {
  const commit = tip === undefined ? 'nothing' : await desk.name(tip);
  return failed('branch', `the branch ${record.branch} of ${branches.name} has work of others: it is at ${commit}`);
}

/** Recorded, or, where the record is gone, found by its key. */
async function isEarlier({ desk, delivery, request }: Outgoing, tip: string): Promise<boolean> {
  if (delivery.earlier !== undefined) return delivery.earlier.includes(tip);
  return keyIn(await desk.message(tip)) === request.key;
}

async function sendMerge(parts: DeliveryParts, outgoing: Outgoing, write: Write): Promise<Sent> {
  const { desk, record, request } = outgoing;
  let { delivery } = outgoing;
  const into = request.into ?? mergedBranch(parts.shift);
  const isLocal = record.kind !== 'clone';
  const branches = isLocal ? localBranches(outgoing)! : new RemoteBranches(desk, record.from);
  using _lock = await parts.lock(`merge ${isLocal ? outgoing.source!.commonDir : record.from}`, request.signal);
  const inUse = isLocal ? await whyInUse(outgoing, into) : undefined;
  if (inUse !== undefined) return inUse;
  const merged = await mergeInto(desk, branches, {
    into,
    commit: delivery.commit,
    base: record.base,
    result: outgoing.result,
    merges: delivery.merges ?? [],
    check: request.check,
    intend: async (merges) => {
      delivery = { ...delivery, merges };
      await write(delivery);
    },
  });
  if (merged.kind !== 'merged') return merged;
  parts.failpoint('delivery:merged');
  return sent({ ...outgoing, delivery }, { commit: merged.commit });
}

async function sendPush(parts: DeliveryParts, outgoing: Outgoing): Promise<Sent> {
  const { desk, record, request, delivery } = outgoing;
  const remote = record.kind === 'clone' ? record.from : remoteOf(outgoing);
  if (remote === undefined) return failed('push', `${record.from} has no remote to push to`);
  // An agent may have pushed its own branch.
  const isMadeHere = async (tip: string) => (await commitsMadeIn(desk.git, record, outgoing.source)).has(tip);
  const failure = await putBranch(new RemoteBranches(desk, remote), outgoing, isMadeHere);
  if (failure !== undefined) return failure;
  parts.failpoint('delivery:pushed');
  if (request.kind === 'push') return sent(outgoing);
  const address = record.kind === 'clone' ? remote : await addressOf(outgoing, remote);
  const { folder } = desk;
  const env = { GIT_DIR: folder };
  const defaultBranch = () => defaultBranchOf(outgoing, remote);
  const place = { runProgram: parts.runProgram, address, defaultBranch, cwd: folder, env, signal: desk.signal };
  const { branch } = record;
  const opened = await openPullRequest(place, { branch, commit: delivery.commit, request, url: delivery.url });
  if (opened.kind !== 'pull-request') return opened;
  parts.failpoint('delivery:opened');
  const { url, state } = opened;
  return sent({ ...outgoing, delivery: { ...delivery, url, prState: state } }, { pr_url: url, pr_state: state });
}

/** As it was configured when the run began. */
function remoteOf({ source, record: { branch } }: Outgoing): string | undefined {
  const settings = source?.settings ?? [];
  const names = settings.flatMap(([key]) => /^remote\.(.+)\.url$/.exec(key)?.[1] ?? []);
  const keys = [`branch.${branch}.pushremote`, 'remote.pushdefault', `branch.${branch}.remote`];
  const asked = keys.map((key) => settingIn(settings, key));
  return [...asked, 'origin', names[0]].find((name) => name !== undefined && names.includes(name));
}

async function addressOf({ desk }: Outgoing, remote: string): Promise<string> {
  return desk.ask(`git knows no address of ${remote}`, ['remote', 'get-url', '--push', remote]);
}

async function defaultBranchOf({ desk }: Outgoing, remote: string): Promise<string | undefined> {
  const args = ['ls-remote', '--quiet', '--symref', remote, 'HEAD'];
  const listed = await desk.ask(`${remote} can't be reached`, args, { isRemote: true });
  return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(listed)?.[1];
}
