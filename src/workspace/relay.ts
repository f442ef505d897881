import { isAbsolute, resolve } from 'node:path';
import type { Trouble } from '../core/model/model.ts';
import { addressWithoutLogin, withoutLogin } from '../core/workspace/login.ts';
import { NotThere } from './base.ts';
import { FETCH, GitFailure, type GitResult } from './git.ts';
import type { Origin } from './origin.ts';
import type { WorkspaceRecord } from './records.ts';
import { type Settings, settingIn } from './settings.ts';

/** A git repository that all machines of a fleet reach. It carries results from one to the other. */
export interface Relay {
  /** For git on this machine: the name of a remote, or an address. */
  readonly remote: string;
  /** For other machines: without a login. Each has its own. */
  readonly address: string;
}

/** What this machine asks of a relay failed. It is never the fault of an item. */
export class RelayFailure extends GitFailure {
  readonly trouble: Trouble;

  constructor(relay: string, what: string, result: Exclude<GitResult, { kind: 'done' }>) {
    super(`${withoutLogin(relay)} ${what}`, result);
    const address = withoutLogin(relay);
    const reason = withoutLogin(this.message);
    this.trouble = this.isTrouble
      ? { reason: `${reason}; check it with \`git ls-remote ${address}\`` }
      : { reason, remedy: `\`git ls-remote ${address}\` and \`git push\` must work on this machine without a prompt` };
  }
}

/** The remote of a clone, or `origin` of the repository of a working tree. Throws `NotThere` if there is none. */
export function relayOf({ from, source }: Origin, kind: WorkspaceRecord['kind']): Relay {
  if (kind === 'clone') return { remote: from, address: addressWithoutLogin(from) };
  const settings = source?.settings ?? [];
  const names = [...new Set(settings.flatMap(([key]) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []))];
  const name = names.includes('origin') ? 'origin' : names.length === 1 ? names[0]! : undefined;
  if (name === undefined) {
    throw new NotThere(`${from} has no remote \`origin\`, over which workers would get and send commits`);
  }
  const url = settingIn(settings, `remote.${name}.url`)!;
  // Where a person pushes to is where workers may push to.
  const pushed = settingIn(settings, `remote.${name}.pushurl`) ?? url;
  const address = isPath(pushed) ? resolve(source!.folder, pushed) : pushed;
  return { remote: pushed === url ? name : address, address: addressWithoutLogin(instead(address, settings)) };
}

function isPath(address: string): boolean {
  return isAbsolute(address) || /^\.{1,2}\//.test(address);
}

/** Other machines need not know the abbreviations of this one: `url.<address>.insteadOf`. */
function instead(address: string, settings: Settings): string {
  const found = settings
    .flatMap(([key, value]) => {
      const base = /^url\.(.+)\.insteadof$/s.exec(key)?.[1];
      return base !== undefined && address.startsWith(value) ? [{ base, value }] : [];
    })
    .sort((a, b) => b.value.length - a.value.length)[0];
  return found ? `${found.base}${address.slice(found.value.length)}` : address;
}

const PUSH = ['push', '--quiet', '--no-verify', '--no-follow-tags', '--no-signed', '--recurse-submodules=no'];
/** Syncs to disk: the relay may delete a commit once it was fetched, so it must survive a power cut here. */
const DURABLY = ['-c', 'core.fsync=committed'];

/** Git with the login of this machine, in a repository that knows the relay. */
export type AskRemote = (args: readonly string[]) => Promise<GitResult>;

/** A commit of this machine, and its name there. */
export interface Sending {
  readonly commit: string;
  readonly ref: string;
}

/** Idempotent. */
export async function pushTo(relay: string, { commit, ref }: Sending, ask: AskRemote): Promise<void> {
  answered(relay, 'pushed to', await ask([...PUSH, '--force', relay, `${commit}:${ref}`]));
}

export async function fetchFrom(
  relay: string,
  { ref, to }: { readonly ref: string; readonly to: string },
  ask: AskRemote,
): Promise<void> {
  const args = [...DURABLY, ...FETCH, '--upload-pack=git-upload-pack', relay, `+${ref}:${to}`];
  answered(relay, 'fetched', await ask(args));
}

/** The refs below a prefix. */
export async function listRefs(relay: string, prefix: string, ask: AskRemote): Promise<string[]> {
  const listed = answered(relay, 'asked', await ask(['ls-remote', '--quiet', relay, `${prefix}/*`]));
  return listed.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
}

/** All of them must be there: otherwise git deletes none. */
export async function deleteRefs(relay: string, refs: readonly string[], ask: AskRemote): Promise<void> {
  if (refs.length > 0) answered(relay, 'pushed to', await ask([...PUSH, relay, ...refs.map((ref) => `:${ref}`)]));
}

function answered(relay: string, done: string, result: GitResult): string {
  if (result.kind !== 'done') throw new RelayFailure(relay, `can't be ${done}`, result);
  return result.text;
}
