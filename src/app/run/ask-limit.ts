import { isBounded, type LimitSettings } from '../../core/schedule/budget.ts';
import { cellsAt, countEligible } from '../../core/schedule/plan.ts';
import { readShiftSettings } from '../../formats/manager.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { refuseSecondRun } from '../../store/folder/run-lock.ts';
import type { World } from '../world.ts';
import { planRun, type RunSettings } from './plan-run.ts';

export interface LimitedRun extends RunSettings {
  /** How many failed item-tasks it will reset first. */
  readonly toRetry?: number;
}

/**
 * Whether a person has to decide on a limit first (rule X6): agents with a model would run without any limit of cost,
 * tokens or time. Throws if the shift is being run, since the answer is written to `manager.md`.
 */
export async function needsLimit(paths: ShiftPaths, settings: LimitedRun, world: World): Promise<boolean> {
  if (await isDecided(paths, settings.limits)) return false;
  const { snapshot, scope, hasModel } = await planRun(paths, settings, world);
  const left = countEligible(snapshot, scope) + cellsAt(snapshot, 'qa', scope).length + (settings.toRetry ?? 0);
  if (!hasModel || left + cellsAt(snapshot, 'in_progress').length === 0) return false;
  refuseSecondRun(paths.runLock, paths.name);
  return true;
}

/** `value`: an amount in US dollars, or `none`. */
export async function setMaxCost(paths: ShiftPaths, value: string): Promise<void> {
  await new ShiftFiles(paths).set('max-cost', value);
}

async function isDecided(paths: ShiftPaths, flags: LimitSettings = {}): Promise<boolean> {
  const { manager, managerFile } = await new ShiftFiles(paths).read();
  return isBounded({ ...readShiftSettings(manager, managerFile).settings.limits, ...flags });
}
