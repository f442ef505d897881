import { readFileSync } from 'node:fs';
import type { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import type { FolderWatch } from '../../core/model/folder-watch.ts';
import { NO_PROTECTION } from '../../core/model/protection.ts';
import { createMask, type Mask } from '../../core/text/mask.ts';
import { LocalWorker } from '../../engine/worker/worker.ts';
import type { Call, Site } from '../../engine/worker/worker-ports.ts';
import type { SentOrder, WorkOutcome } from '../../fleet/protocol.ts';
import { nothingDone, type Perform } from '../../fleet/worker/order-run.ts';
import { parseEnv } from '../../formats/env.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { Folders } from '../../watch/folders.ts';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { gitProgram } from '../run/git-program.ts';
import { outputFinder } from '../run/own-output.ts';
import { processClock } from '../run/process-time.ts';
import type { World } from '../world.ts';
import { confirmedAgents } from './confirmed-agents.ts';
import { findPlace, type PlaceMeans } from './order-place.ts';
import { VolumeProtection } from './volume-protection.ts';

export interface WorkerMeans extends PlaceMeans {
  readonly world: World;
  readonly agents: AgentSet;
  /** Secrets of this machine, by name, and the files that hold them. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly secretFiles: readonly string[];
  /** What else must not get out of this machine: the address of the database. */
  readonly hidden: Readonly<Record<string, string>>;
  /** Resolves when this worker knows which of its orders it still has. */
  readonly confirmed: () => Promise<void>;
  readonly workspaces: Site['workspaces'] & object;
  /** Prints a line for the operator. */
  warn(message: string): void;
}

/**
 * Carries out orders with what this machine has. Without a volume, it has no folder of the shift: an agent can't reach
 * the table.
 */
export function performer(means: WorkerMeans): Perform {
  const { world, agents, workspaces, secrets, secretFiles, confirmed, warn } = means;
  const clock = processClock(world.now);
  const scratch = { folder: means.folder.scratch, remove: removeFolder };
  const caller = { ...world.env };
  const folders = watchWorkspaces(means);
  const volumes = new VolumeProtection(world, warn);
  return async (sent, call) => {
    const found = await findPlace(sent, means, call.signal);
    if ('refused' in found) return found;
    if ('reason' in found) return nothingDone(sent.work, found.reason);
    using there = found;
    const { place, volume } = there;
    const ofVolume = volume === undefined ? {} : coordinatorSecrets(volume);
    const others = {
      secrets: { ...ofVolume, ...means.hidden, ...secrets },
      files: volume === undefined ? secretFiles : [...secretFiles, volume.env, volume.envInForce],
    };
    const site: Site = {
      place,
      agents: { find: confirmedAgents(agents.find, confirmed), caller },
      check: runCheck,
      folders,
      protection: volume === undefined ? NO_PROTECTION : await volumes.of(volume),
      workspaces,
      scratch,
      others,
      clock,
      random: Math.random,
    };
    const worker = new LocalWorker({ ...site, secrets: secretsFor(sent, secrets) });
    return await carryOut(sent, call, worker).catch((bug: unknown) => {
      throw maskedError(bug, createMask(others.secrets));
    });
  };
}

/** Devs of other machines may write on a volume at the same time: a change there can't be ascribed to a qa. */
function watchWorkspaces({ folder, world, warn }: WorkerMeans): Site['folders'] {
  const folders = new Folders({
    leftOut: folder.files,
    git: gitProgram(folder.path, world),
    ownOutput: outputFinder(),
    hasNeighbours: () => false,
    warn,
  });
  return {
    enter: (entered) => folders.enter(entered),
    watch: async (request) => (request.isWorkspace ? folders.watch(request) : UNWATCHED),
  };
}

/** On a volume, agents can read the coordinator's values, which may be others than those of this machine. */
function coordinatorSecrets({ env }: ShiftPaths): Record<string, string> {
  try {
    const values = parseEnv(readFileSync(env, 'utf8'), env);
    return Object.fromEntries([...values].map(([name, value]) => [`coordinator's ${name}`, value]));
  } catch {
    return {};
  }
}

function maskedError(bug: unknown, mask: Mask): Error {
  const { message, stack = '' } = bug instanceof Error ? bug : new Error(String(bug));
  return Object.assign(new Error(mask.text(message)), { stack: mask.text(stack) });
}

function carryOut({ work }: SentOrder, call: Call, worker: LocalWorker): Promise<WorkOutcome> {
  return work.kind === 'item' ? worker.run(work.order, call) : worker.learn(work.order, call);
}

/** Only the secrets that the shift names. None is missing: this worker would not have got the order. */
function secretsFor({ needs }: SentOrder, secrets: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => needs.includes(`secret:${name}`)));
}

const UNWATCHED: FolderWatch = { changes: async () => ({ files: [], isShared: false }), [Symbol.dispose]() {} };
