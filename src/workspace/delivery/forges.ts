/** How the program of one forge is called, and what it prints. */
export interface Forge {
  readonly program: 'gh' | 'glab';
  /** All pull requests of a branch, whatever their state. */
  readonly list: (branch: string) => readonly string[];
  /** `gh` reads the text from standard input. */
  readonly create: (wanted: WantedRequest) => readonly string[];
  readonly view: (url: string) => readonly string[];
  /** Whether it guesses the base from a repository on this machine, so that it must be told. */
  readonly needsBase: boolean;
  /** What it prints as JSON; anything else lists nothing. Requests from other repositories are left out. */
  readonly read: (text: string) => ListedRequest[];
}

/** A pull request to open. */
interface WantedRequest {
  readonly branch: string;
  /** Undefined: the default branch of the repository. */
  readonly base: string | undefined;
  readonly title: string;
  readonly body: string;
}

interface ListedRequest {
  readonly url: string;
  /** `open`, `merged` or `closed`. */
  readonly state: string;
  /** The last commit of its branch. */
  readonly commit: string | undefined;
}

/** By an address: of a repository, or of a pull request. */
export function forgeOf(address: string): Forge {
  const repository = repositoryOf(address);
  return repository?.host.includes('gitlab') ? gitlab(repository) : github(repository);
}

interface Repository {
  readonly host: string;
  readonly path: string;
}

/** Undefined for a path: the program looks at the remotes of the desk. */
function repositoryOf(address: string): Repository | undefined {
  const [, host, path] =
    /^(?:https?|ssh|git):\/\/(?:[^@/]+@)?([^/:]+)(?::\d+)?\/(.+?)(?:\.git)?\/*$/.exec(address) ??
    /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+?)(?:\.git)?\/*$/.exec(address) ??
    [];
  return host === undefined || !path?.includes('/') ? undefined : { host, path };
}

function github(repository: Repository | undefined): Forge {
  const repo = repository === undefined ? [] : ['--repo', `${repository.host}/${repository.path}`];
  const fields = ['--json', 'number,url,state,headRefOid,isCrossRepository'];
  return {
    program: 'gh',
    needsBase: false,
    list: (branch) => ['pr', 'list', ...repo, '--head', branch, '--state', 'all', ...fields],
    create: ({ branch, base, title }) => {
      const into = base === undefined ? [] : ['--base', base];
      return ['pr', 'create', ...repo, '--head', branch, ...into, '--title', title, '--body-file', '-'];
    },
    view: (url) => ['pr', 'view', url, ...fields],
    read: (text) =>
      entriesOf(text).flatMap(({ url, state, headRefOid, isCrossRepository }) =>
        isCrossRepository === true ? [] : listed(url, state, headRefOid),
      ),
  };
}

/**
 * `glab` takes a host in `OWNER/REPO` for a group if it does not know it, so it gets whole addresses. Without `--head` it
 * would ask the forge which remote of the desk is meant, and without a base it may guess `master`.
 */
function gitlab({ host, path }: Repository): Forge {
  const address = `https://${host}/${path}`;
  const json = ['--output', 'json'];
  return {
    program: 'glab',
    needsBase: true,
    list: (branch) => ['mr', 'list', '--repo', address, '--source-branch', branch, '--all', ...json],
    create: ({ branch, base, title, body }) => [
      ...['mr', 'create', '--repo', address, '--head', address, '--source-branch', branch],
      ...(base === undefined ? [] : ['--target-branch', base]),
      // A single dash would open an editor.
      ...['--title', title, '--description', body.trim() === '-' ? `${body}\n` : body, '--yes'],
    ],
    view: (url) => {
      const [, repository = address, number = url] = /^(.+?)\/-\/merge_requests\/(\d+)/.exec(url) ?? [];
      return ['mr', 'view', number, '--repo', repository, ...json];
    },
    read: (text) =>
      entriesOf(text).flatMap(({ web_url: url, state, sha, source_project_id, target_project_id }) =>
        source_project_id === target_project_id ? listed(url, state, sha) : [],
      ),
  };
}

/** An array, or one entry. */
function entriesOf(text: string): Record<string, unknown>[] {
  try {
    return [JSON.parse(text)].flat().filter((entry) => typeof entry === 'object' && entry !== null);
  } catch {
    return [];
  }
}

/** `locked`: GitLab is merging it. */
const STATES: Readonly<Record<string, string>> = { opened: 'open', locked: 'open' };

function listed(url: unknown, state: unknown, commit: unknown): ListedRequest[] {
  if (typeof url !== 'string') return [];
  const told = String(state ?? '').toLowerCase();
  return [{ url, state: STATES[told] ?? told, commit: typeof commit === 'string' ? commit : undefined }];
}
