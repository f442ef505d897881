import { agentNames } from '../agents/registry.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import type { Table } from '../formats/table.ts';
import { findRoot, type ShiftPaths } from '../store/folder/layout.ts';
import { createShift as createFolder } from '../store/folder/new-shift.ts';
import { lessonsFrom } from './lessons/adopt-lessons.ts';
import type { World } from './world.ts';

export interface ShiftOptions {
  readonly agent?: string | undefined;
  readonly parallel?: boolean | undefined;
  readonly items?: Table | undefined;
  /** A shift, possibly archived, whose lessons wait in the new one. */
  readonly lessonsFrom?: string | undefined;
}

/** Creates a shift in the project, and the project itself if there is none yet. */
export async function createShift(world: World, name: string, options: ShiftOptions = {}): Promise<ShiftPaths> {
  checkAgentName(options.agent);
  return createWithAnyAgent(world, name, options);
}

/** Throws if Nightshift has no agent of this name. */
export function checkAgentName(agent: string | undefined): void {
  if (agent !== undefined) requireKnown('agent', agent, agentNames);
}

/** Refuses a name that is not among those that there are. */
export function requireKnown(kind: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const near = nearest(name, known);
  const choice = `${kind}s are: ${known.join(', ')}`;
  const hint = near ? `did you mean ${near}? ${choice}` : choice;
  throw new NightshiftError('usage', `there is no ${kind} ${JSON.stringify(name)}`, hint);
}

/** For programs, which may bring agents of their own. */
export async function createWithAnyAgent(world: World, name: string, options: ShiftOptions): Promise<ShiftPaths> {
  const { agent, parallel = false, items, lessonsFrom: taught } = options;
  return createFolder(findRoot(world.cwd) ?? world.cwd, {
    name,
    created: new Date(world.now()).toISOString().slice(0, 10),
    parallel,
    settings: agent === undefined ? {} : { agent },
    items,
    lessons: taught === undefined ? undefined : lessonsFrom(world, taught),
  });
}
