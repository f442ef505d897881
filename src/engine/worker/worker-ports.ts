import type { Agent } from '../../agents/agent.ts';
import type { CheckRequest, CheckResult } from '../../checks/checks.ts';
import type { Clock } from '../../core/model/clock.ts';
import type { FolderWatch, WatchRequest } from '../../core/model/folder-watch.ts';
import type { Script } from '../../core/model/model.ts';
import type { Observed } from '../../core/model/protection.ts';
import type { KeptWorkplaces } from './workplace.ts';

/** The agents that are at hand where an order is carried out, with what only that place knows. */
export interface Agents {
  find(name: string): Agent | undefined;
  /** The values of the shift's `.env`. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The environment that Nightshift itself was started with; agents get only an allow-list of it. */
  readonly caller: Readonly<Record<string, string | undefined>>;
  /** Sessions of devs that wait for their verdict; absent: each order has its own, and is told what failed before. */
  readonly kept?: KeptWorkplaces;
}

/** What the place where an order is carried out does itself: looking, so that nobody has to be believed, and waiting. */
export interface Checks {
  run(check: CheckRequest): Promise<CheckResult>;
  /**
   * Whether the files that only Nightshift writes were changed by this attempt (rule D5); the reason if so.
   * `calls`: the inputs of the tools that it may have done it with.
   */
  trespass(calls: readonly string[]): Promise<string | undefined>;
  /** Waits before the next attempt of a dev; false: the run is to end, and nothing more is begun. */
  pause(milliseconds: number, signal: AbortSignal): Promise<boolean>;
  /** Why no agent may be asked anything more, if a limit on cost or tokens is used up (rule X6). */
  spentUp(): string | undefined;
  readonly clock: Clock;
  /** From 0 to 1. */
  random(): number;
  /** Runs checks while the files that `protect:` names are as they were at the start of the run (rule D5). */
  observe<T>(run: () => Promise<T>): Promise<Observed<T>>;
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
