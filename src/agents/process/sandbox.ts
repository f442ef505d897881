import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isInside, type Mount, type Sandbox } from '../../core/workspace/sandbox.ts';
import { SHELL } from './start.ts';

/** Fixed places, as for `sh`: the PATH of an agent does not decide what confines it. */
const BWRAP = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
const INSTALL = 'install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`), or write `sandbox: false`';
const PROBE_MS = 20_000;

/** How this machine confines processes. */
export interface Confiner {
  readonly file: string;
  /** Whether processes inside can be kept from making namespaces of their own (bubblewrap 0.8). */
  readonly forbidsNamespaces: boolean;
}

/** `remedy`: what you can do. */
export interface NoConfiner {
  readonly reason: string;
  readonly remedy: string;
}

let found: Promise<Confiner | NoConfiner> | undefined;

/** Really confines a process, once. */
export function findConfiner(): Promise<Confiner | NoConfiner> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Confiner | NoConfiner> {
  if (process.platform !== 'linux') {
    const remedy = 'write `sandbox: false`, or run Nightshift on Linux or in WSL';
    return { reason: `the sandbox needs Linux, and this is ${process.platform}`, remedy };
  }
  const file = BWRAP.find((each) => existsSync(each));
  if (file === undefined) return { reason: 'the sandbox needs bubblewrap, which is not installed', remedy: INSTALL };
  const strict = { file, forbidsNamespaces: true };
  if ((await tryConfiner(strict)) === undefined) return strict;
  const plain = { file, forbidsNamespaces: false };
  const said = await tryConfiner(plain);
  if (said === undefined) return plain;
  const remedy =
    'allow user namespaces for it (on Ubuntu: an AppArmor profile for bwrap; in Docker: `--security-opt ' +
    'seccomp=unconfined`), or write `sandbox: false`';
  return { reason: `bubblewrap does not work here: ${said}`, remedy };
}

/** Undefined if it works, otherwise what it said. With a network of its own: `offline` must work, too. */
function tryConfiner(confiner: Confiner): Promise<string | undefined> {
  const args = bwrapArguments(confiner, { mounts: [], hasNetwork: false }, '/', ['true']);
  return new Promise((resolve) => {
    execFile(confiner.file, args, { cwd: '/', timeout: PROBE_MS }, (error, _, stderr) => {
      resolve(error === null ? undefined : stderr.trim().split('\n')[0] || error.message);
    });
  });
}

interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** The program as it is started: confined. The mounts are looked at now. */
export function confined(
  confiner: Confiner,
  sandbox: Sandbox,
  { file, args, cwd }: Command & { readonly cwd: string },
): Command {
  const mounts = resolveMounts(sandbox.mounts);
  // Only a shell tells a missing program by its exit code, 127.
  const program = file.startsWith('/') ? [file, ...args] : [SHELL, '-c', 'exec "$@"', 'sh', file, ...args];
  return { file: confiner.file, args: bwrapArguments(confiner, { ...sandbox, mounts }, realOf(cwd) ?? cwd, program) };
}

type ResolvedMount = Mount | { readonly path: string; readonly access: 'link'; readonly to: string };

/**
 * The arguments of bubblewrap. Processes inside see no others, have no capabilities and gain none (setuid has no
 * effect), and end with the one that started them. `/proc/sys` is read-only by a mount: for root, bubblewrap leaves it
 * writable, and what is written there changes the whole machine.
 */
export function bwrapArguments(
  { forbidsNamespaces }: Pick<Confiner, 'forbidsNamespaces'>,
  { mounts, hasNetwork }: Omit<Sandbox, 'mounts'> & { readonly mounts: readonly ResolvedMount[] },
  cwd: string,
  program: readonly string[],
): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...(forbidsNamespaces ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'].flatMap((each) => ['--ro-bind-try', each, each]),
    ...mounts.toSorted((a, b) => depthOf(a.path) - depthOf(b.path)).flatMap(mountArguments),
    ...['--chdir', cwd, '--', ...program],
  ];
}

function mountArguments(mount: ResolvedMount): string[] {
  if (mount.access === 'link') return ['--symlink', mount.to, mount.path];
  if (mount.access === 'hidden') return ['--tmpfs', mount.path];
  return [mount.access === 'write' ? '--bind' : '--ro-bind', mount.from ?? mount.path, mount.path];
}

function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}

/** Without what does not exist, and with real paths: bubblewrap does not follow links to its targets. */
function resolveMounts(mounts: readonly Mount[]): ResolvedMount[] {
  const hidden = mounts.filter(({ access }) => access === 'hidden').flatMap(({ path }) => realOf(path) ?? []);
  return mounts.flatMap((mount): ResolvedMount[] => {
    const from = mount.from === undefined ? undefined : realOf(mount.from);
    if (mount.from !== undefined && from === undefined) return [];
    const path = mount.from === undefined ? realOf(mount.path) : placeOf(mount.path);
    if (path === undefined) return [];
    const link = placeOf(mount.path);
    const isLostLink = link !== undefined && isLink(link) && hidden.some((folder) => isInside(link, folder));
    return [
      { ...mount, path, ...(from === undefined ? {} : { from }) },
      ...(isLostLink ? [{ path: link, access: 'link' as const, to: readlinkSync(link) }] : []),
    ];
  });
}

/** The path, with links resolved in the folders above it. */
function placeOf(path: string): string | undefined {
  const above = realOf(dirname(path));
  return above === undefined ? undefined : join(above, basename(path));
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
