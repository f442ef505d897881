import { hostname } from 'node:os';
import type { Order } from '../../core/model/model.ts';
import { localOrder } from '../../core/model/order.ts';
import type { Protection } from '../../core/model/protection.ts';
import type { Shift } from '../../core/model/shift.ts';
import { count } from '../../core/text/count.ts';
import type { RunControl } from '../../engine/control.ts';
import { workingFolder } from '../../engine/worker/work.ts';
import type { Worker } from '../../engine/worker/worker-ports.ts';
import { Fleet } from '../../fleet/coordinator/fleet.ts';
import { type DatabaseOptions, FleetDatabase } from '../../fleet/database.ts';
import { describeFailure } from '../../fleet/failure.ts';
import type { Store } from '../../store/store.ts';
import type { AwayRows } from '../../workspace/away-rows.ts';
import { findLeftItems, type LeftItems } from '../run/left-items.ts';
import type { NewRun } from '../run/run-shift.ts';
import { explainDatabaseError } from './database-error.ts';
import { leaseSeconds } from './fleet-address.ts';
import { shiftKey, volumeId } from './fleet-ids.ts';
import { FleetRows } from './fleet-rows.ts';
import { takesFiles } from './require-files.ts';
import { ShiftBundle } from './shift-bundle.ts';
import { findSigner } from './signing-key.ts';
import { isShared, placeOf } from './task-place.ts';

export interface FleetMeans {
  readonly address: DatabaseOptions;
  readonly shift: Shift;
  readonly store: Pick<Store, 'snapshot'>;
  readonly control: RunControl;
  readonly local: (secrets: Shift['secrets']) => Worker;
  readonly protection: Pick<Protection, 'hold'>;
  /** Rows of this machine whose workspaces are on workers. */
  away(): Promise<AwayRows>;
  secrets(): Shift['secrets'];
  /** The names of the tasks as they are now. */
  tasks(): readonly string[];
}

/** The fleet of a run, and its database. */
export interface OpenFleet extends AsyncDisposable {
  readonly fleet: Fleet;
  /** Aborts when the run can't continue. */
  readonly failed: AbortSignal;
}

/** Connects to the database of a fleet, and takes over the shift there. */
export async function openFleet(run: NewRun, means: FleetMeans): Promise<OpenFleet> {
  const { paths, world, stream, failpoint } = run;
  const { address, shift, store, control, local, protection, secrets, tasks, away } = means;
  const database = new FleetDatabase(address);
  const failed = new AbortController();
  const volume = shift.tasks.some(isShared) ? await volumeId(paths.root) : undefined;
  const key = await shiftKey(paths);
  const warn = (message: string) => stream.emit({ type: 'run:warning', message });
  const files = new ShiftBundle({ paths, tasks, secrets, warn });
  if (takesFiles(shift)) await files.latest();
  const fleet = new Fleet({
    database,
    shift: { key, name: paths.name, host: hostname() },
    rows: new FleetRows({ paths, key, away, secrets, warn }),
    signer: await findSigner(world),
    leaseSeconds: leaseSeconds(world),
    emit: stream.emit,
    flush: () => stream.flush(),
    positionOf: (order, worker) => stream.history.positionOf(order, worker),
    local,
    place: (task) => placeOf(task, volume),
    files,
    hold: (order) => hold(order, { paths, protection, secrets }),
    secrets,
    isPaused: () => control.pause !== undefined,
    stopped: control.now,
    left: control.left,
    onStop: () => control.startDraining({ signal: 'control', reason: '`nightshift fleet stop`' }),
    onFailure: (error) => {
      failed.abort(explainDatabaseError(error));
      control.stopNow({ signal: 'control', reason: describeFailure(error) });
    },
    failpoint,
  });
  try {
    await fleet.open();
    const left = fleet.surviving().length === 0 && findLeftItems(await store.snapshot(), stream.history);
    if (left) warn(startOver(left));
  } catch (error) {
    await fleet[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
    throw explainDatabaseError(error);
  }
  return {
    fleet,
    failed: failed.signal,
    [Symbol.asyncDispose]: async () => {
      await fleet[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

type HoldMeans = Pick<FleetMeans, 'protection' | 'secrets'> & Pick<NewRun, 'paths'>;

async function hold(order: Order, { paths, protection, secrets }: HoldMeans): Promise<void> {
  const { settings, workspace } = order;
  if (settings.protect.length === 0 || !isShared({ hasWorkspace: workspace !== undefined, settings })) return;
  await protection.hold({ folder: workingFolder(localOrder(order, paths), secrets()), globs: settings.protect });
}

/** Another database has none of these orders, and neither has one that was dropped. */
function startOver(left: LeftItems): string {
  return (
    `the last run left ${count(left.count, 'item')} with workers, but this database has no orders for them: they start ` +
    'over. If that run used another database, its workers may still be working on them'
  );
}
