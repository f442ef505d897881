import { existsSync } from 'node:fs';
import { findRoot, shiftPaths } from '../../store/folder/layout.ts';
import { checkAgentName } from '../create-shift.ts';
import type { World } from '../world.ts';
import { checkColumns } from './check-request.ts';
import { planContinued } from './continue-each.ts';
import type { EachOptions, EachPlan } from './each-plan.ts';
import type { EachItems } from './items-for-each.ts';
import { planNew } from './new-each.ts';

/** Checks everything and says what would be made or added. Writes nothing and starts no agent. */
export async function planEach(world: World, items: EachItems, options: EachOptions): Promise<EachPlan> {
  checkAgentName(options.agent);
  const paths = shiftPaths(findRoot(world.cwd) ?? world.cwd, options.name ?? items.name);
  checkColumns(options, items.table);
  const plan = existsSync(paths.folder) ? planContinued : planNew;
  return plan(world, paths, items, options);
}
