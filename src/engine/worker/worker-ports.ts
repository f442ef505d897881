import type { Agent } from '../../agents/agent.ts';
import type { CheckRequest, CheckResult } from '../../checks/checks.ts';
import type { Clock } from '../../core/model/clock.ts';
import type { Emit } from '../../core/model/events.ts';
import type { FolderWatch, WatchRequest } from '../../core/model/folder-watch.ts';
import type { LessonOrder, LessonOutcome } from '../../core/model/lesson-order.ts';
import type { Order, Outcome, ResolvedScript, Script, ShiftPlace } from '../../core/model/model.ts';
import type { Protection } from '../../core/model/protection.ts';
import { createMask, type Mask } from '../../core/text/mask.ts';
import type { Deliveries, DeliveryResult, Workspaces } from '../../core/workspace/workspaces.ts';
import type { RowDelivery } from './deliver.ts';
import type { ScratchPlace } from './scratch.ts';
import type { KeptWorkplaces } from './workplace.ts';

/** Carries out orders, on this machine or another. It reaches neither the store nor the table. */
export interface Worker {
  /** Does not throw for anything that an agent or a check does. */
  run(order: Order, call: Call): Promise<Outcome>;
  /** Asks the agent of a task for changes of its Steps. Does not throw for anything that the agent does. */
  learn(order: LessonOrder, call: Call): Promise<LessonOutcome>;
  /** Delivers the result of a row whose last verdict has passed. Does not throw for anything that git or a host does. */
  deliver(row: RowDelivery, call: Call): Promise<DeliveryResult>;
  /** The item does not go back to its dev: ends the session that waits for the verdict, if any. */
  drop(token: string): Promise<void>;
}

/** What the manager and a worker exchange during an order. */
export interface Call {
  readonly emit: Emit;
  /** Ends the work now: the run stops, or the item is withdrawn. */
  readonly signal: AbortSignal;
  /** The run has to end: a dev that waits before its next attempt gives its item back. */
  readonly drain: AbortSignal;
  /** A limit on cost or tokens is used up: no agent gets another prompt (rule X6). Its reason names the limit. */
  readonly spent: AbortSignal;
}

interface Agents {
  find(name: string): Agent | undefined;
  /** The environment of Nightshift itself; agents get only an allow-list of it. */
  readonly caller: Readonly<Record<string, string | undefined>>;
}

/** What the worker's machine provides. */
export interface Site {
  readonly place: ShiftPlace;
  readonly agents: Agents;
  check(request: CheckRequest): Promise<CheckResult>;
  readonly folders: {
    /** An agent or a check that may write works there until it is disposed. */
    enter(folder: string): Disposable;
    /** Watches the folder of a qa's session (rule Q2). */
    watch(request: WatchRequest): Promise<FolderWatch>;
  };
  readonly protection: Pick<Protection, 'hold' | 'enter' | 'observe' | 'trespassOf'>;
  /** Absent: no task has a workspace. */
  readonly workspaces?: Workspaces & Deliveries;
  /**
   * The watch over the shift's own files, on the machine that has them. It can show that an attempt edited one; that
   * attempt fails (rule D5). Absent on other machines, where an agent can't reach these files.
   */
  readonly shiftFiles?: {
    /** `calls`: the inputs of tool calls that may have written. */
    trespassOf(token: string, calls: readonly string[]): Promise<string | undefined>;
    /** Before a further attempt: throws if the shift was moved or removed (rule M6). */
    confirm(): Promise<void>;
  };
  /** Absent: the temporary folder of the system. */
  readonly scratch?: ScratchPlace;
  /** Secrets of this machine that no order gets unless it names them. An agent may find them all the same. */
  readonly others?: {
    /** They are masked like those that an order gets. */
    readonly secrets: Readonly<Record<string, string>>;
    /** Hidden in the sandbox. */
    readonly files: readonly string[];
  };
  readonly clock: Clock;
  /** From 0 to 1. */
  random(): number;
  /**
   * Sessions of devs that wait for their verdict. Absent: each order gets its own session and is told what failed
   * before.
   */
  readonly kept?: KeptWorkplaces;
}

/** A site with the values of the `.env` that was in force when the order was made. */
export interface EquippedSite extends Site {
  readonly secrets: Readonly<Record<string, string>>;
}

/** What must not get out of this machine. */
export function maskOf({ secrets, others }: EquippedSite): Mask {
  return createMask({ ...others?.secrets, ...secrets });
}

/** A script with its values. */
export function resolveScript(script: Script, secrets: Readonly<Record<string, string>>): ResolvedScript {
  const values = Object.entries(script.values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : (secrets[value.env] ?? ''),
  ]);
  const { source, shell } = script;
  return { source, values: Object.fromEntries(values), ...(shell === undefined ? {} : { shell }) };
}
