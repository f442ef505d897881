import type { Agent } from '../../agents/agent.ts';
import { agentEnvironment } from '../../agents/environment.ts';
import { AgentSet } from '../../agents/registry.ts';
import { type FindTraits, findTraits } from '../../core/model/agent-traits.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Counts } from '../../core/model/events.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { LimitSettings } from '../../core/schedule/budget.ts';
import { cellsAt, countItems, type Scope } from '../../core/schedule/plan.ts';
import { fleetIn, type RunRequest } from '../../core/schedule/run-request.ts';
import type { Selection } from '../../core/schedule/selection.ts';
import { hasModel } from '../../engine/budget.ts';
import { checkAgents, checkModels } from '../../engine/preflight.ts';
import type { DatabaseOptions } from '../../fleet/database.ts';
import type { Overrides } from '../../formats/compile.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { findTask } from '../find-task.ts';
import { readHistory } from '../history.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { refuseEmpty } from '../refuse-empty.ts';
import { refuseNoMatch, selector } from '../select-rows.ts';
import type { World } from '../world.ts';
import { refuseLeftItems } from './left-items.ts';
import { requireBash } from './require-bash.ts';
import { requireSandbox } from './require-sandbox.ts';
import type { NewRun } from './run-shift.ts';

/** Which part of a shift to run, by which agents, and within which limits. */
export interface RunSettings extends Selection {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: LimitSettings;
  /** Agents of the caller, besides the built-in ones. */
  readonly agents?: readonly Agent[] | undefined;
  /** The database of a fleet, whose workers carry out the orders. Absent: this process does. */
  readonly fleet?: DatabaseOptions | undefined;
  /** Do items again that workers of a fleet may still be working on. */
  readonly withoutFleet?: boolean | undefined;
  /** The command line that asks for the same run again. */
  readonly request?: RunRequest;
}

export interface RunPlan extends OpenShift {
  readonly scope: Scope;
  readonly hasModel: boolean;
}

/** Makes the checks of a run and says what it would cover. Writes nothing and starts no agent. */
export async function planRun(paths: ShiftPaths, settings: RunSettings, world: World): Promise<RunPlan> {
  const opened = await openAndCheck(paths, overridesIn(settings));
  refuseNothing(opened, settings);
  if (!settings.fleet && !settings.withoutFleet) await refuseLeftItems(paths, opened.snapshot, world);
  await using agents = new AgentSet(settings.agents);
  await requireAgents(opened.shift, agents, world, settings.fleet !== undefined);
  await requireWorkspaces(world, paths, opened, settings.fleet !== undefined);
  if (settings.fleet) await requireFiles(paths, opened.shift);
  if (!settings.fleet) await requireModels(opened.shift, agents, world);
  return {
    ...opened,
    scope: selector(opened.snapshot, settings)(opened.snapshot),
    hasModel: opened.shift.tasks.some((task) => hasModel(task, agents.find)),
  };
}

/**
 * Throws for wrong input before anything is written. Returns the counts if everything is done already. It is a
 * function of its own so that its table, which may be large, is freed before the run reads it again.
 */
export async function checkFirst(
  { paths, options, world, compile }: NewRun,
  agents: AgentSet,
): Promise<Counts | undefined> {
  const opened = await openAndCheck(paths, { ...overridesIn(options), compile });
  refuseNothing(opened, options);
  const { count, tasks } = opened.snapshot;
  const isComplete = cellsAt(opened.snapshot, 'done').length === count * tasks.length;
  if (isComplete && !(options.fleet && (await isUnfinished(paths, world)))) return countItems(opened.snapshot);
  if (!options.fleet && !options.withoutFleet) await refuseLeftItems(paths, opened.snapshot, world);
  await requireAgents(opened.shift, agents, world, options.fleet !== undefined);
  await requireWorkspaces(world, paths, opened, options.fleet !== undefined);
  if (options.fleet) await requireFiles(paths, opened.shift);
  await opened.files.prepare();
  return undefined;
}

/** The last run was on a fleet, and was killed before its end: the database may still have something of it. */
async function isUnfinished(paths: ShiftPaths, world: World): Promise<boolean> {
  const { lastRun } = await readHistory(paths, world);
  return lastRun !== undefined && lastRun.end === undefined && fleetIn(lastRun.flags) !== undefined;
}

/** An empty shift and a selection without rows are wrong input. */
function refuseNothing({ shift, snapshot }: OpenShift, selection: Selection): void {
  const { task } = selection;
  refuseEmpty(shift, snapshot.count);
  if (task !== undefined) findTask(shift, task);
  refuseNoMatch(snapshot, selection);
}

/** Throws if an agent of the shift is unknown or can't be started. `isElsewhere`: workers of a fleet start it. */
export async function requireAgents(shift: Shift, agents: AgentSet, world: World, isElsewhere = false): Promise<void> {
  const find = isElsewhere ? elsewhere(agents.find) : agents.find;
  try {
    await checkAgents(shift, find, agents.names, environmentIn(shift, world));
    for (const task of shift.tasks) {
      requireBash(task, find(task.settings.agent)!);
      if (!isElsewhere) await requireSandbox(task, find);
    }
  } catch (error) {
    throw error instanceof NightshiftError ? error.noting(shift.warnings) : error;
  }
}

/** A worker that lacks a program gets no orders for it. */
function elsewhere(find: AgentSet['find']): AgentSet['find'] {
  return (name) => {
    const agent = find(name);
    return agent && { ...agent, missing: async () => undefined };
  };
}

/** Throws if a model or a login of the shift is certainly missing. Takes seconds, and costs nothing. */
export function requireModels(shift: Shift, agents: AgentSet, world: World): Promise<void> {
  return checkModels(shift, agents.find, environmentIn(shift, world));
}

/** Throws if the workspaces of the shift can't be made or delivered. A shift without them does not load their code. */
async function requireWorkspaces(world: World, paths: ShiftPaths, opened: OpenShift, isFleet: boolean): Promise<void> {
  if (opened.shift.workspace === undefined) return;
  const requirements = await import('../workspaces/requirements.ts');
  await requirements.requireWorkspaces(world, paths, opened, isFleet);
}

/** Throws if workers of a fleet can't have files that the shift uses. Only a fleet needs its code. */
export async function requireFiles(paths: ShiftPaths, shift: Shift): Promise<void> {
  const required = await import('../fleet/require-files.ts');
  await required.requireFiles(paths, shift);
}

function environmentIn({ secrets }: Shift, { env }: World) {
  return ({ credentials }: Agent, { settings }: Task) =>
    agentEnvironment({ caller: env, passEnv: [...credentials, ...settings.passEnv], secrets, own: {} });
}

/** Settings of the run that win over those in the files. */
export function overridesIn({ agent, model, limits = {}, agents = [] }: RunSettings): Overrides {
  const findAgent: FindTraits = (name) => agents.find((own) => own.name === name) ?? findTraits(name);
  return { agent, model, limits, findAgent };
}
