import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { agentEnvironment } from '../../agents/environment.ts';
import { beforeEachStart } from '../../agents/process/process.ts';
import { findConfiner } from '../../agents/process/sandbox.ts';
import { AgentSet, agentNames } from '../../agents/registry.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import type { Stop } from '../../engine/ports.ts';
import { type DatabaseOptions, FleetDatabase } from '../../fleet/database.ts';
import { keyOffer, timeOffer } from '../../fleet/needs.ts';
import { verifierFrom } from '../../fleet/signature.ts';
import { fetchBundle } from '../../fleet/worker/fetch-bundle.ts';
import { Offers } from '../../fleet/worker/offers.ts';
import { WorkerLoop } from '../../fleet/worker/worker-loop.ts';
import { parseEnv } from '../../formats/env.ts';
import { readError } from '../../store/folder/table/table-file.ts';
import type { World } from '../world.ts';
import { explainDatabaseError } from './database-error.ts';
import { findVolume } from './fleet-ids.ts';
import { WorkerFiles } from './worker-files.ts';
import { WorkerFolder } from './worker-folder.ts';
import { performer } from './worker-site.ts';
import { openWorkerWorkspaces } from './worker-workspaces.ts';

export interface WorkerRequest {
  readonly address: DatabaseOptions;
  readonly name?: string | undefined;
  readonly slots: number;
  /** The public key of the coordinator. */
  readonly key: string;
  readonly labels: readonly string[];
  readonly roles: readonly string[];
  readonly root?: string | undefined;
  readonly envFile?: string | undefined;
  /** Names of variables of this process that are secrets of shifts. */
  readonly secretNames: readonly string[];
  readonly graceMs: number;
  readonly lifeMs?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly version: string;
  readonly tell: (line: string) => void;
}

const AGENTS_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 200;

/** Runs a worker until it is asked to stop, and leaves no process behind. */
export async function runWorker(request: WorkerRequest, stop: Stop, world: World): Promise<void> {
  const { tell, slots, version } = request;
  const verify = verifierFrom(request.key);
  if (!verify) {
    const hint = '`nightshift start SHIFT --fleet URL` and `nightshift fleet init` print it';
    throw new NightshiftError('usage', '--key is not the public key of a coordinator', hint);
  }
  const id = randomUUID();
  const name = request.name ?? `${hostname()}-${process.pid}`;
  await using folder = await WorkerFolder.open(world, id, { warn: tell });
  const git = await openWorkerWorkspaces(folder, world, tell);
  await using workspaces = git.workspaces;
  await using database = new FleetDatabase(request.address);
  using files = new WorkerFiles(folder.files, (...request) => fetchBundle(database, ...request));
  await using agents = new AgentSet();
  const secrets = readSecrets(request, world);
  const root = rootOf(request, world);
  if (root !== undefined && findVolume(root) === undefined) tell(unmarked(root));
  const since = performance.now();
  const timeLeftMs = request.lifeMs === undefined ? undefined : () => request.lifeMs! - (performance.now() - since);
  const offers = new Offers({
    fixed: await fixedOffers(request, secrets),
    places: () => [...placesOf(root, git.missing), ...(timeLeftMs ? [timeOffer(timeLeftMs())] : [])],
    withoutPlaces: new Map(git.missing === undefined ? [] : [['workspace:git', git.missing]]),
    agents: () => usableAgents(agents, world),
    everyMs: AGENTS_EVERY_MS,
    now: () => performance.now(),
  });
  const loop: WorkerLoop = new WorkerLoop({
    ...{ database, id, name, slots, version, offers, verify, tell },
    perform: performer({
      ...{ world, agents, secrets, root, folder, files, workspaces },
      secretFiles: request.envFile === undefined ? [] : [resolve(world.cwd, request.envFile)],
      hidden: hiddenIn(request.address),
      confirmed: () => loop.confirmed(),
      warn: tell,
    }),
  });
  using _start = beforeEachStart(() => loop.confirmed());
  using _watch = watchForEnd(loop, stop, { ...request, timeLeftMs });
  await loop.run().catch((error: unknown) => {
    throw explainDatabaseError(error);
  });
}

interface Ends extends Pick<WorkerRequest, 'graceMs' | 'idleMs' | 'tell'> {
  readonly timeLeftMs: (() => number) | undefined;
}

/** Drains the worker when it is told to end, has nothing to do, or its time is over; ends its agents after a grace. */
function watchForEnd(loop: WorkerLoop, stop: Stop, { graceMs, idleMs, timeLeftMs, tell }: Ends): Disposable {
  let isDraining = false;
  /** The start of the grace period. Undefined for an idle worker that drains: an order that it just got may finish. */
  let endingSince: number | undefined;
  let isStopped = false;
  const drain = (why: string) => {
    if (isDraining) return;
    isDraining = true;
    const left =
      loop.running === 0 ? '' : `, and waiting up to ${formatDuration(graceMs)} for ${count(loop.running, 'order')}`;
    tell(`${why}: taking no new orders${left}`);
    loop.drain();
  };
  const look = () => {
    const why = stop.drain.aborted
      ? 'stopping'
      : timeLeftMs && timeLeftMs() <= graceMs
        ? 'the time of --for is almost up'
        : undefined;
    if (why !== undefined) {
      drain(why);
      endingSince ??= performance.now();
    } else if (idleMs !== undefined && loop.idleMs >= idleMs) drain('idle for too long (--exit-when-idle)');
    const isOver = endingSince !== undefined && performance.now() - endingSince >= graceMs;
    if (isStopped || !(stop.now.aborted || isOver)) return;
    isStopped = true;
    if (loop.running > 0) tell(`giving back ${count(loop.running, 'order')}`);
    loop.stop();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Another process of this user can see it, such as an agent that calls `ps`. */
function hiddenIn({ url }: DatabaseOptions): Record<string, string> {
  const { password } = new URL(url);
  return {
    NIGHTSHIFT_FLEET_URL: url,
    ...(password !== '' && { 'password of the fleet': decodeURIComponent(password) }),
  };
}

function rootOf({ root }: WorkerRequest, { cwd }: World): string | undefined {
  if (root === undefined) return undefined;
  const folder = resolve(cwd, root);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new NightshiftError('usage', `--root ${folder} is not a folder`, 'mount the volume, or correct the path');
}

function unmarked(root: string): string {
  return `${root} has no .nightshift/.fleet-volume: no orders for shared folders until a coordinator has created it there`;
}

function readSecrets({ envFile, secretNames }: WorkerRequest, world: World): Record<string, string> {
  const ofFile = envFile === undefined ? [] : [...parseEnv(textOf(resolve(world.cwd, envFile)), envFile)];
  const ofProcess = secretNames.map((name) => {
    const value = world.env[name];
    if (value !== undefined) return [name, value] as const;
    throw new NightshiftError('usage', `--secrets names ${name}, but it is not set`, 'set it, or leave it out');
  });
  return Object.fromEntries([...ofFile, ...ofProcess]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw readError(cause, file);
  }
}

async function fixedOffers({ labels, roles, key }: WorkerRequest, secrets: Record<string, string>): Promise<string[]> {
  const confiner = await findConfiner();
  return [
    keyOffer(key),
    ...roles.map((role) => `role:${role}`),
    ...labels.map((label) => `label:${label}`),
    ...Object.keys(secrets).map((name) => `secret:${name}`),
    ...('file' in confiner ? ['sandbox'] : []),
  ];
}

/** Read again each time: the coordinator may mark the volume later. */
function placesOf(root: string | undefined, missingGit: string | undefined): string[] {
  const volume = root === undefined ? undefined : findVolume(root);
  const git = missingGit === undefined ? ['workspace:git'] : [];
  return ['workspace:none', ...git, ...(volume === undefined ? [] : [`volume:${volume}`])];
}

/** For each agent: undefined if its program can be started here, otherwise what to do. */
async function usableAgents(agents: AgentSet, { env }: World): Promise<Map<string, string | undefined>> {
  const found = new Map<string, string | undefined>();
  for (const name of agentNames) {
    const agent = agents.find(name)!;
    // The task names the program of these agents, so there is nothing to ask.
    const isAlways = agent.needs !== undefined || !agent.hasModel;
    const environment = agentEnvironment({ caller: env, passEnv: agent.credentials, secrets: {}, own: {} });
    found.set(name, isAlways ? undefined : await agent.missing({ tools: [] }, { environment }));
  }
  return found;
}
