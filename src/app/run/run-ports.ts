import { tmpdir } from 'node:os';
import type { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import type { Shift } from '../../core/model/shift.ts';
import { type Selection, selectionIn } from '../../core/schedule/selection.ts';
import type { RunControl } from '../../engine/control.ts';
import type { RunPorts } from '../../engine/ports.ts';
import { LocalWorker } from '../../engine/worker/worker.ts';
import type { Site } from '../../engine/worker/worker-ports.ts';
import type { KeptWorkplaces } from '../../engine/worker/workplace.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import { Watch } from '../../watch/watch.ts';
import type { FleetMeans, OpenFleet } from '../fleet/open-fleet.ts';
import { checkerOf, type OpenShift, reloader } from '../open-shift.ts';
import { selector } from '../select-rows.ts';
import { keysOfWriters } from './open-files.ts';
import { overridesIn, requireAgents, requireFiles } from './plan-run.ts';
import { protectFiles } from './protect-files.ts';
import type { NewRun } from './run-shift.ts';
import { watchFolders } from './watch-folders.ts';
import { WorkspacesOnDemand } from './workspaces-on-demand.ts';

interface Means {
  readonly agents: AgentSet;
  readonly workplaces: KeptWorkplaces;
  readonly control: RunControl;
}

export interface Ports {
  readonly ports: RunPorts;
  /** Reads the shift as it is in force now. */
  load(): Promise<Shift>;
  /** The secrets that were read last. */
  secrets(): Shift['secrets'];
  /** Finishes what a killed run left of workspaces; once its agents have ended. */
  recover(): Promise<void>;
  /** Throws why the fleet can't go on, for example because another coordinator has taken over. */
  checkFleet(): void;
  /** The run has come to its end. `isFinished`: nothing is left to do. */
  end(isFinished: boolean): Promise<void>;
  /** Tells what agents have changed outside of their workspaces; once they have ended. */
  lookOutside(): Promise<void>;
  close(): Promise<void>;
}

type Opened = Omit<OpenShift, 'snapshot'>;

/** Builds everything that the engine needs for a run on a folder. */
export async function buildPorts(run: NewRun, opened: Opened, means: Means): Promise<Ports> {
  const { paths, options, world, stream, failpoint } = run;
  const { agents, workplaces, control } = means;
  const { store } = opened;
  const inForce = await openDocuments(run, opened, agents);
  const reload = reloader(inForce, store, run.compile);
  let { secrets, tasks } = opened.shift;
  const load = async () => {
    const shift = await reload();
    ({ secrets, tasks } = shift);
    return options.fleet ? asStream(shift) : shift;
  };
  // A copy: each access to `process.env` calls into the system's library.
  const caller = { ...world.env };
  const shiftFiles = new Watch(run.clock);
  const protection = protectFiles(paths, world, stream.emit);
  const warn = (message: string) => stream.emit({ type: 'run:warning', message });
  const workspaces = new WorkspacesOnDemand({ paths, world, failpoint, warn });
  const site: Site = {
    place: paths,
    agents: { find: agents.find, caller },
    check: runCheck,
    folders: watchFolders(paths, world, warn),
    protection,
    workspaces,
    shiftFiles,
    clock: run.clock,
    random: Math.random,
    scratch: { folder: tmpdir(), remove: removeScratch },
    kept: workplaces,
  };
  const local = (secrets: Shift['secrets']) => new LocalWorker({ ...site, secrets });
  const away = () => workspaces.away();
  const now = { secrets: () => secrets, tasks: () => tasks.map(({ name }) => name) };
  const open = options.fleet && (await openFleetOf(run, { ...opened, ...now, control, local, protection, away }));
  const ports: RunPorts = {
    store,
    documents: inForce,
    load,
    worker: open ? (secrets) => open.fleet.worker(secrets) : local,
    ...(open && { fleet: open.fleet }),
    findAgent: agents.find,
    shiftFiles,
    protection: {
      begin: (places) => protection.begin(places),
      // Agents that stay with workers still need the record, and so does the next run.
      end: () => (control.left.aborted ? protection.leave() : protection.end()),
    },
    events: {
      emit: stream.emit,
      listen: stream.listen,
      flush: async () => {
        await stream.flush();
        failpoint('journal:flushed');
      },
      checkKept: () => stream.checkKept(),
      history: stream.history,
    },
    control,
    running: run.running,
    clock: run.clock,
    scope: {
      select: await selectIn(store, options),
      selection: selectionIn(options),
      ...(options.request === undefined ? {} : { request: options.request }),
    },
    owner: run.holder.run,
  };
  const recover = () => workspaces.recover(store);
  const lookOutside = () => workspaces.lookOutside();
  const end = async (isFinished: boolean) => {
    await open?.fleet.end(isFinished);
    await workspaces.end({ isRun: true });
  };
  const close = async () => {
    await open?.[Symbol.asyncDispose]();
    await inForce.close();
  };
  const checkFleet = () => open?.failed.throwIfAborted();
  return { ports, load, recover, lookOutside, checkFleet, end, secrets: () => secrets, close };
}

/** Only a fleet needs its code. */
async function openFleetOf(run: NewRun, means: Omit<FleetMeans, 'address'>): Promise<OpenFleet> {
  const { openFleet } = await import('../fleet/open-fleet.ts');
  return openFleet(run, { ...means, address: run.options.fleet! });
}

/** Loaded when the first order has left something in its folder. */
async function removeScratch(folder: string): Promise<void> {
  const { removeFolder } = await import('../../workspace/remove-folder.ts');
  await removeFolder(folder);
}

/** A barrier over many machines would leave most of them idle. */
function asStream(shift: Shift): Shift {
  return { ...shift, settings: { ...shift.settings, parallel: true, stream: true } };
}

/** The documents in force. An edit is checked before it counts, also for agents that it asks for. */
function openDocuments({ paths, options, world, stream }: NewRun, opened: Opened, agents: AgentSet): Promise<InForce> {
  const { files, store, shift } = opened;
  return InForce.open(files, {
    emit: stream.emit,
    now: world.now,
    check: checkerOf(store, shift, overridesIn(options), async (changed) => {
      await requireAgents(changed, agents, world, options.fleet !== undefined);
      if (options.fleet) await requireFiles(paths, changed);
    }),
    record: new InForceRecord(paths),
    writers: keysOfWriters,
  });
}

async function selectIn(store: OpenShift['store'], selection: Selection): Promise<ReturnType<typeof selector>> {
  return selector(await store.snapshot(), selection);
}
