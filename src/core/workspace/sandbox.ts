/** `offline`: without network. */
export type SandboxMode = 'off' | 'on' | 'offline';

/**
 * How processes inside see a path. `hidden`: an empty private folder, which ends with them. `from`: what is seen
 * there, if that is something else. A path that does not exist is left out.
 */
export interface Mount {
  readonly path: string;
  readonly access: 'write' | 'read' | 'hidden';
  readonly from?: string;
}

/** What a process can see, write and reach. Everything that no mount names can be read and not written. */
export interface Sandbox {
  /** A deeper path wins over the one above it; of two for the same path, the later one. */
  readonly mounts: readonly Mount[];
  readonly hasNetwork: boolean;
}

export interface Confinement {
  readonly mode: Exclude<SandboxMode, 'off'>;
  /** The home folder of the person. */
  readonly home: string;
  /** Where temporary files are. */
  readonly temporary: string;
  /** What its processes write: the row's workspace, or `working-dir`. */
  readonly workspace: string;
  /** Whether other items and you work there, too. */
  readonly isShared: boolean;
  readonly scratch: string;
  /** The folder that holds `.nightshift`. */
  readonly root: string;
  /** The git folders that the workspace needs, and does not contain. */
  readonly repositories: readonly string[];
  /** Files with secrets that are not for this item; they exist. */
  readonly secrets: readonly string[];
  /** The PATH of its processes. */
  readonly path: string;
}

/** Where sockets, other people's files and other processes' temporary files are. */
const HIDDEN = ['/home', '/root', '/tmp', '/var/tmp', '/run'];
/** Names are looked up with the first, and NixOS has its programs in the others. */
const NEEDED = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/current-system',
  '/run/wrappers',
  '/run/opengl-driver',
];
/** Programs and their versions, without logins. */
const TOOLCHAINS = [
  ...['.asdf', '.fnm', '.nix-profile', '.nodenv', '.nvm', '.pyenv', '.rbenv', '.rustup', '.sdkman', '.volta'],
  ...['.local/share/fnm', '.local/share/mise', '.local/share/pnpm', '.local/share/uv'],
];
/** Who commits; no credentials. */
const GIT_CONFIG = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];

export function confine(confinement: Confinement): Sandbox {
  const { mode, home, temporary, workspace, isShared, scratch, root, repositories, secrets, path } = confinement;
  const hidden = [...HIDDEN, temporary, home];
  return {
    mounts: [
      ...hidden.map((each) => ({ path: each, access: 'hidden' as const })),
      ...[...NEEDED, ...programsIn(hidden, path), ...neededOf(home), root, ...repositories].map(readable),
      ...[workspace, scratch].map((each) => ({ path: each, access: 'write' as const })),
      // Writing these would run code, or count work, outside of the sandbox.
      readable(`${root}/.nightshift`),
      { path: `${root}/.nightshift/archive`, access: 'hidden' },
      ...(isShared ? [readable(`${workspace}/.git`)] : []),
      ...secrets.map((each) => ({ path: each, access: 'read' as const, from: '/dev/null' })),
    ],
    hasNetwork: mode === 'on',
  };
}

/** What of the PATH would be hidden. */
function programsIn(hidden: readonly string[], path: string): string[] {
  const folders = path.split(':').filter((folder) => hidden.some((each) => isInside(folder, each)));
  return folders.flatMap((folder) => [folder, ...(folder.endsWith('/bin') ? librariesOf(folder) : [])]);
}

function neededOf(home: string): string[] {
  return [...TOOLCHAINS, ...GIT_CONFIG].map((name) => `${home}/${name}`);
}

function librariesOf(bin: string): string[] {
  const above = bin.slice(0, -'/bin'.length);
  return ['lib', 'libexec'].map((name) => `${above}/${name}`);
}

function readable(path: string): Mount {
  return { path, access: 'read' };
}

export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** The same, with more mounts for the program that runs inside. */
export function withMounts<T extends Sandbox | undefined>(sandbox: T, mounts: readonly Mount[]): T {
  return sandbox && ({ ...sandbox, mounts: [...sandbox.mounts, ...mounts] } as T);
}

/** The same, where nothing can be written but `except` and what is in it. */
export function readOnly(sandbox: Sandbox | undefined, except: string): Sandbox | undefined {
  if (sandbox === undefined) return undefined;
  const isKept = ({ path }: Mount) => path === except || isInside(path, except);
  const mounts = sandbox.mounts.map((mount): Mount => {
    return mount.access === 'write' && !isKept(mount) ? { ...mount, access: 'read' } : mount;
  });
  return { ...sandbox, mounts };
}

/** Why a folder can't be the one that is written: what must stay hidden is in it. */
export function whyNotConfined(
  workspace: string,
  { home, root }: Pick<Confinement, 'home' | 'root'>,
): string | undefined {
  const holds = (folder: string) => folder === workspace || isInside(folder, workspace);
  if (holds(home)) return `the sandbox can't hide your home folder: agents would work in ${workspace}, which holds it`;
  if (workspace === `${root}/.nightshift` || isInside(workspace, `${root}/.nightshift`)) {
    return `agents can't work in ${workspace}: the sandbox keeps .nightshift read-only`;
  }
  return undefined;
}
