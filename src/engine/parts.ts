import type { Agent } from '../agents/agent.ts';
import type { CheckRequest, CheckResult } from '../checks/checks.ts';
import type { FolderWatch, WatchRequest } from '../core/folder-watch.ts';
import type { Script } from '../core/model.ts';

/** The agents that are at hand where an order is carried out, with what only that place knows. */
export interface Agents {
  find(name: string): Agent | undefined;
  /** The values of the shift's `.env`. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The environment that Nightshift itself was started with; agents get only an allow-list of it. */
  readonly caller: Readonly<Record<string, string | undefined>>;
}

/** What the engine looks at itself, so that nobody has to be believed. */
export interface Checks {
  run(check: CheckRequest): Promise<CheckResult>;
  /**
   * Whether the files that only Nightshift writes were changed by this attempt (rule D5); the reason if so.
   * `calls`: the inputs of the tools that it may have done it with.
   */
  trespass(calls: readonly string[]): Promise<string | undefined>;
  /** Watches the folder in which a qa's session is about to begin (rule Q2). */
  watch(request: WatchRequest): Promise<FolderWatch>;
}

/** A script with its values at hand. */
export function resolveScript(script: Script, secrets: Readonly<Record<string, string>>): CheckRequest['script'] {
  const values = Object.entries(script.values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : (secrets[value.env] ?? ''),
  ]);
  return { source: script.source, values: Object.fromEntries(values) };
}
