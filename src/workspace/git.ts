/** One call of git, for repositories that Nightshift may write. */
export interface GitCall {
  readonly folder: string;
  readonly args: readonly string[];
  /** Beside the usual environment: GIT_DIR, GIT_INDEX_FILE and the like. */
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly signal: AbortSignal;
  /** The call needs the network or a person's credentials: fetch, push. */
  readonly isRemote?: boolean;
  /** How long it may take; absent: minutes. */
  readonly withinMs?: number;
  /** Reads the person's own configuration as it is now. Other calls use it as it was when the run began. */
  readonly readsConfiguration?: boolean;
}

/** `refused`: git ran and failed; `said` is what it printed. `not-run`: not installed, ended, out of resources. */
export type GitResult =
  | { readonly kind: 'done'; readonly text: string; readonly said: string }
  | { readonly kind: 'refused'; readonly code: number; readonly said: string }
  | { readonly kind: 'not-run'; readonly reason: string };

export interface Git {
  run(call: GitCall): Promise<GitResult>;
}

/** A fetch that brings nothing but what it is asked for. */
export const FETCH = [
  ...['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-recurse-submodules', '--no-auto-maintenance'],
];

/** Git refused, or could not run. */
export class GitFailure extends Error {
  readonly isRefusal: boolean;
  /** What was asked of it, and all that it said. */
  readonly what: string;
  readonly said: string;
  /** It may work later: no network, no room, a lock that another process holds. */
  readonly isTrouble: boolean;

  constructor(what: string, result: Exclude<GitResult, { kind: 'done' }>) {
    const why = result.kind === 'refused' ? lastLines(result.said) || `exit code ${result.code}` : result.reason;
    super(`${what}: ${why}`);
    this.isRefusal = result.kind === 'refused';
    this.what = what;
    this.said = result.kind === 'refused' ? result.said : result.reason;
    this.isTrouble = result.kind === 'not-run' || mayPass(result.said);
  }
}

/** Git tells what went wrong only in words; it runs with LC_ALL=C. */
const PASSING = new RegExp(
  [
    'No space left on device|Disk quota exceeded|Cannot allocate memory|Too many open files|Resource temporarily',
    // A working tree that is being added.
    'bad object worktrees/',
    "Unable to create '.*\\.lock'|cannot lock ref|Another git process seems to be running",
    'Could not resolve host|Temporary failure in name resolution|Connection (refused|timed out|reset|closed)',
    'Network is unreachable|No route to host|Operation timed out|early EOF|remote end hung up|RPC failed',
    'The requested URL returned error: (429|5\\d\\d)|Could not connect|Failed to connect|SSL_ERROR|gnutls_handshake',
  ].join('|'),
  'i',
);

/** Whether what git said is about something that passes. */
export function mayPass(said: string): boolean {
  return PASSING.test(said);
}

/** Returns what git printed. Throws a `GitFailure` that begins with `what`. */
export async function askGit(git: Git, what: string, call: GitCall): Promise<string> {
  const result = await git.run(call);
  if (result.kind !== 'done') throw new GitFailure(what, result);
  return result.text;
}

/** The same for a question that git may answer with no: undefined then. Without git there is no answer. */
export async function tryGit(git: Git, what: string, call: GitCall): Promise<string | undefined> {
  const result = await git.run(call);
  if (result.kind === 'not-run') throw new GitFailure(what, result);
  return result.kind === 'done' ? result.text : undefined;
}

const SHOWN_LINES = 5;

/** Hints for people at a terminal. */
const HINT = /^(hint:|Please make sure you have the correct access rights$|and the repository exists$)/;

/** What git says last is what matters. */
function lastLines(said: string): string {
  const lines = said.split('\n').map((line) => line.trim().replace(/(?<!\.)\.$/, ''));
  const useful = lines.filter((line) => line !== '' && !HINT.test(line));
  return useful.slice(-SHOWN_LINES).join('; ');
}
