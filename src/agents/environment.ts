import type { LocalOrder, ShiftPlace } from '../core/model/model.ts';
import type { Agent } from './agent.ts';

type Environment = Readonly<Record<string, string>>;

export interface EnvironmentSources {
  /** What nightshift itself was started with. */
  readonly caller: Readonly<Record<string, string | undefined>>;
  /** `NAME` or `PREFIX_*`. */
  readonly passEnv: readonly string[];
  /** The shift's `.env`. */
  readonly secrets: Environment;
  /** The NIGHTSHIFT_* variables. */
  readonly own: Environment;
  /** It works in a workspace: the engine delivers, so it neither logs in elsewhere nor pushes. */
  readonly isInWorkspace?: boolean;
}

/** What every agent gets of the caller's environment. Anything else needs a `pass-env` (rule S5). */
const ALWAYS = [
  ...['PATH', 'HOME', 'LANG', 'LC_*', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'SSH_AUTH_SOCK', 'XDG_*'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE'],
  ...['GIT_SSL_CAINFO', 'GIT_SSL_CAPATH', 'AWS_CA_BUNDLE', 'PIP_CERT', 'CARGO_HTTP_CAINFO', 'DENO_CERT'],
];

/** The keys that `git push` could use; in a workspace they need a `pass-env`. */
const LOGINS = ['SSH_AUTH_SOCK'];

/** How the addresses of remotes begin. */
const REMOTES = ['https://', 'http://', 'ssh://', 'git://', 'git@', 'file://', '/', '.'];

/** Makes `git push` fail by naming a protocol that does not exist. A guard against mistakes, not against intent. */
const NO_PUSH: Environment = Object.fromEntries([
  ['GIT_CONFIG_COUNT', String(REMOTES.length)],
  ...REMOTES.flatMap((prefix, i) => [
    [`GIT_CONFIG_KEY_${i}`, 'url.nightshift-delivers-this://.pushInsteadOf'],
    [`GIT_CONFIG_VALUE_${i}`, prefix],
  ]),
]);

/** The whole environment of an agent or a check; the later source wins: caller, `.env`, own. */
export function agentEnvironment(sources: EnvironmentSources): Record<string, string> {
  const { caller, passEnv, secrets, own, isInWorkspace = false } = sources;
  const always = isInWorkspace ? ALWAYS.filter((name) => !LOGINS.includes(name)) : ALWAYS;
  const isPassed = matcher([...always, ...passEnv]);
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(caller)) {
    if (value !== undefined && isPassed(name)) given[name] = value;
  }
  return { ...given, ...secrets, ...(isInWorkspace ? NO_PUSH : {}), ...own };
}

/** For `preview`: which names an agent sees, and which of the caller's it does not. */
export function environmentNames(sources: EnvironmentSources): { given: string[]; withheld: string[] } {
  const given = agentEnvironment(sources);
  const withheld = Object.keys(sources.caller).filter((name) => !Object.hasOwn(given, name));
  return { given: Object.keys(given).sort(), withheld: withheld.sort() };
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns);
  const prefixes = patterns.filter((each) => each.endsWith('*')).map((each) => each.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Where the shift is, and by what its processes are found. */
export function placeEnvironment({ folder, table, mark }: ShiftPlace): Record<string, string> {
  const own = mark === undefined ? {} : { NIGHTSHIFT_WORKER_DIR: mark };
  return { NIGHTSHIFT_SHIFT_DIR: folder, ...own, NIGHTSHIFT_TABLE: table };
}

/** The variables that identify the item to an agent, its checks and their processes; also the mark for leftovers. */
export function itemEnvironment(order: LocalOrder, attempt: number, outputFile: string): Record<string, string> {
  return {
    NIGHTSHIFT_ROLE: order.role,
    NIGHTSHIFT_SHIFT: order.shift.name,
    ...placeEnvironment(order.shift),
    NIGHTSHIFT_TASK: order.task,
    NIGHTSHIFT_INDEX: String(order.item.index),
    NIGHTSHIFT_ROW: String(order.item.index + 1),
    NIGHTSHIFT_ATTEMPT: String(attempt),
    NIGHTSHIFT_ITEM: JSON.stringify(order.item.metadata),
    NIGHTSHIFT_KEY: order.key,
    NIGHTSHIFT_OUTPUT: outputFile,
  };
}

/** For the prompt, if many sessions share one environment and the agent has a shell that needs them. */
export function variablesToTell(
  agent: Pick<Agent, 'hasEnvironment'> | undefined,
  tools: readonly string[],
  own: Environment,
): { variables?: Record<string, string> } {
  if (!agent || agent.hasEnvironment || !tools.includes('bash')) return {};
  // The row is in the prompt already.
  const { NIGHTSHIFT_ITEM: _, ...variables } = own;
  return { variables };
}
