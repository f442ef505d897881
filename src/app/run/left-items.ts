import type { History } from '../../core/folds/history.ts';
import { countAtWorkers } from '../../core/folds/summary.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { cellsAt } from '../../core/schedule/plan.ts';
import { fleetIn } from '../../core/schedule/run-request.ts';
import { count } from '../../core/text/count.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Snapshot } from '../../store/store.ts';
import { readHistory } from '../history.ts';
import type { World } from '../world.ts';
import { currentRun } from './follow-run.ts';

export interface LeftItems {
  readonly count: number;
  /** What `--fleet` was. */
  readonly fleet: string;
}

/**
 * Refuses work on this machine while workers of a fleet may be working on the same items. Only a run on that fleet finds
 * them again.
 */
export async function refuseLeftItems(paths: ShiftPaths, snapshot: Snapshot, world: Pick<World, 'env'>): Promise<void> {
  const left = await leftItems(paths, snapshot, world);
  if (left) throw new NightshiftError('usage', whereLeft(left), adoptOrRepeat(paths.name, left));
}

/** Those that workers of a fleet may be working on while no run is active. */
export async function leftItems(
  paths: ShiftPaths,
  snapshot: Snapshot,
  world: Pick<World, 'env'>,
): Promise<LeftItems | undefined> {
  // Avoids reading a long journal. While a run is active, another one is refused anyway.
  if (!isAnyRunning(snapshot) || currentRun(paths)) return undefined;
  return findLeftItems(snapshot, await readHistory(paths, world));
}

export function whereLeft(left: LeftItems): string {
  return `workers of a fleet may still be working on ${count(left.count, 'item')}: the last run left them there`;
}

export function adoptOrRepeat(shift: string, { fleet }: LeftItems): string {
  return (
    `\`nightshift start ${shift} --fleet ${fleet}\` adopts them. \`nightshift start ${shift} --without-fleet\` ` +
    'runs them again on this machine, regardless of the workers'
  );
}

/** The items of the last run, if it was on a fleet, and was killed, failed, or left its orders with workers. */
export function findLeftItems(snapshot: Snapshot, history: History): LeftItems | undefined {
  const { flags, end } = history.lastRun ?? {};
  const fleet = fleetIn(flags);
  const hasGivenBack = end !== undefined && end.left === undefined && end.error === undefined;
  if (fleet === undefined || hasGivenBack || !isAnyRunning(snapshot)) return undefined;
  const judged = countAtWorkers(snapshot, history, ['qa']).reduce((sum, { items }) => sum + items, 0);
  const items = cellsAt(snapshot, 'in_progress').length + judged;
  return items === 0 ? undefined : { count: items, fleet };
}

function isAnyRunning(snapshot: Snapshot): boolean {
  return cellsAt(snapshot, 'in_progress').length > 0 || cellsAt(snapshot, 'qa').length > 0;
}
