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
import { checkerOf, type OpenShift, reloader } from '../open-shift.ts';
import { selector } from '../select-rows.ts';
import { keysOfWriters } from './open-files.ts';
import { overridesIn, requireAgents } from './plan-run.ts';
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
  /** The run has come to its end. */
  end(): Promise<void>;
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
  let { secrets } = opened.shift;
  const load = async () => {
    const shift = await reload();
    secrets = shift.secrets;
    return shift;
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
    kept: workplaces,
  };
  const ports: RunPorts = {
    store,
    documents: inForce,
    load,
    worker: (secrets) => new LocalWorker({ ...site, secrets }),
    findAgent: agents.find,
    shiftFiles,
    protection,
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
  const end = () => workspaces.end({ isRun: true });
  return { ports, load, recover, lookOutside, end, secrets: () => secrets, close: () => inForce.close() };
}

/** The documents in force. An edit is checked before it counts, also for agents that it asks for. */
function openDocuments({ paths, options, world, stream }: NewRun, opened: Opened, agents: AgentSet): Promise<InForce> {
  const { files, store, shift } = opened;
  return InForce.open(files, {
    emit: stream.emit,
    now: world.now,
    check: checkerOf(store, shift, overridesIn(options), (changed) => requireAgents(changed, agents, world)),
    record: new InForceRecord(paths),
    writers: keysOfWriters,
  });
}

async function selectIn(store: OpenShift['store'], selection: Selection): Promise<ReturnType<typeof selector>> {
  return selector(await store.snapshot(), selection);
}
