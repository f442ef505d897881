import type { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import type { FolderWatch } from '../../core/model/folder-watch.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import { createMask } from '../../core/text/mask.ts';
import { LocalWorker } from '../../engine/worker/worker.ts';
import type { Call, Site } from '../../engine/worker/worker-ports.ts';
import type { SentOrder, WorkOutcome } from '../../fleet/protocol.ts';
import { nothingDone, type Perform } from '../../fleet/worker/order-run.ts';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { processClock } from '../run/process-time.ts';
import type { World } from '../world.ts';
import { confirmedAgents } from './confirmed-agents.ts';
import { findPlace, type PlaceMeans } from './order-place.ts';

export interface WorkerMeans extends PlaceMeans {
  readonly world: World;
  readonly agents: AgentSet;
  /** Secrets of this machine, by name, and the files that hold them. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly secretFiles: readonly string[];
  /** Resolves when this worker knows which of its orders it still has. */
  readonly confirmed: () => Promise<void>;
  readonly workspaces: Site['workspaces'] & object;
}

/**
 * Carries out orders with what this machine has. Without a volume, it has no folder of the shift: an agent can't reach
 * the table.
 */
export function performer(means: WorkerMeans): Perform {
  const { world, agents, workspaces, secrets, secretFiles, confirmed } = means;
  const clock = processClock(world.now);
  const scratch = { folder: means.folder.scratch, remove: removeFolder };
  const caller = { ...world.env };
  return async (sent, call) => {
    const found = await findPlace(sent, means, call.signal);
    if ('refused' in found) return found;
    if ('reason' in found) return nothingDone(sent.work, found.reason);
    using there = found;
    const site: Site = {
      place: there.place,
      agents: { find: confirmedAgents(agents.find, confirmed), caller },
      check: runCheck,
      folders: { enter: () => nothing, watch: async () => unwatched },
      protection: NO_PROTECTION,
      workspaces,
      scratch,
      others: { secrets, files: secretFiles },
      clock,
      random: Math.random,
    };
    const worker = new LocalWorker({ ...site, secrets: secretsFor(sent, secrets) });
    return await carryOut(sent, call, worker).catch((bug: unknown) => {
      throw new Error(createMask(secrets).text(bug instanceof Error ? bug.message : String(bug)));
    });
  };
}

function carryOut({ work }: SentOrder, call: Call, worker: LocalWorker): Promise<WorkOutcome> {
  return work.kind === 'item' ? worker.run(work.order, call) : worker.learn(work.order, call);
}

/** Only the secrets that the shift names. None is missing: this worker would not have got the order. */
function secretsFor({ needs }: SentOrder, secrets: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => needs.includes(`secret:${name}`)));
}

const nothing: Disposable = { [Symbol.dispose]() {} };

/** Devs of other machines may write there at the same time, so a change can't be ascribed to a qa. */
const unwatched: FolderWatch = { changes: async () => ({ files: [], isShared: false }), [Symbol.dispose]() {} };
