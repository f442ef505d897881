import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgres } from '../src/fleet/postgres/programs.ts';
import { newSigningKey, signerFrom } from '../src/fleet/signature.ts';
import { startPostgres } from '../src/fleet/temporary-postgres.ts';
import { tryLock } from '../src/store/folder/files/flock.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { medianOf, megabytes, ms, NIGHTSHIFT, node, program, takeTurns } from './measure.ts';
import { servePage } from './page/served-page.ts';
import { watchGrid } from './page/watcher.ts';
import { EIGHT_AT_ONCE, Project, SHIFT, STREAM, TASK } from './project.ts';

const ITEMS = 96;
const ROUNDS = 3;
const WORKERS = 50;
const SLOTS = 8;
const BYTES_PER_SECOND = 1_000_000;
const WATCHED_MS = 90_000;
const RAMP_MS = 20_000;

/** What a fleet costs, next to the same run on one machine; and what a coordinator of 400 agents needs. */
export async function fleet(): Promise<Section> {
  const found = await findPostgres(process.env);
  if (!('bin' in found)) throw new Error(`${found.missing}; apt-get install postgresql`);
  using folder = new Folder();
  // As root, the server runs as another user.
  chmodSync(folder.path, 0o711);
  const server = await startPostgres({
    bin: found.bin,
    folder: join(folder.path, 'postgres'),
    env: process.env,
    lock: tryLock,
  });
  using site = new Site(server.url);
  try {
    return { title: 'Fleet', figures: [...(await oneWorker(site)), ...(await manyWorkers(site))] };
  } finally {
    await server.stop('immediate');
  }
}

/** A database, a key, and the processes that use them. */
class Site implements Disposable {
  readonly url: string;
  readonly key: string;
  readonly env: Record<string, string>;
  readonly #state = mkdtempSync(join(tmpdir(), 'nightshift-bench-state-'));
  readonly #children = new Set<ChildProcess>();

  constructor(url: string) {
    const signingKey = newSigningKey();
    this.url = url;
    this.key = signerFrom(signingKey).publicKey;
    this.env = { NIGHTSHIFT_FLEET_SIGNING_KEY: signingKey, NIGHTSHIFT_FLEET_URL: url, XDG_STATE_HOME: this.#state };
  }

  spawn(args: readonly string[], cwd?: string): ChildProcess {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...this.env }, stdio: 'ignore' });
    this.#children.add(child);
    return child;
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.#state, { recursive: true, force: true });
  }
}

async function oneWorker(site: Site): Promise<Figure[]> {
  const worker = site.spawn([NIGHTSHIFT, 'worker', '--slots', String(SLOTS), '--key', site.key]);
  const refills: number[] = [];
  const taken = await takeTurns(ROUNDS, {
    plain: () => timeRun(site, []),
    fleet: () => timeRun(site, ['--fleet', 'env'], (times) => refills.push(...times)),
  });
  worker.kill('SIGTERM');
  const p99 = percentile99(refills);
  return [
    {
      what: `${ITEMS} items of 1 s, 8 at once: a fleet with one worker`,
      ours: ms(taken.fleet),
      other: `plain start: ${ms(taken.plain)}`,
      ratio: taken.fleet / taken.plain,
      target: atMost(1.07),
    },
    {
      what: `from the end of an item to the start of the next in its slot, of ${refills.length}: median ${ms(medianOf(refills))}`,
      ours: `99th percentile ${ms(p99)}`,
      other: '300 ms',
      ratio: p99 / 300,
      target: atMost(1),
    },
  ];
}

/** `hear` gets how long each slot was empty. */
async function timeRun(
  { env }: Site,
  flags: readonly string[],
  hear: (refills: number[]) => void = () => {},
): Promise<number> {
  using log = new Folder();
  const note = (what: string) => `echo "${what} $(date +%s%N)" >> ${join(log.path, 'times')}`;
  const table = `name,${TASK}\n${Array.from({ length: ITEMS }, (_, i) => `item-${i},todo\n`).join('')}`;
  using project = new Project({
    settings: { ...STREAM, workspace: 'none' },
    table,
    step: `${note('begin')}; sleep 1; ${note('end')}`,
  });
  const taken = await node([NIGHTSHIFT, 'start', SHIFT, '--max-cost', 'none', ...flags], { cwd: project.root, env });
  hear(refillTimes(readFileSync(join(log.path, 'times'), 'utf8')));
  return taken.ms;
}

/** The first eight begin at once; each further one takes the slot of the item that has waited longest. */
function refillTimes(text: string): number[] {
  const timesOf = (what: string) =>
    [...text.matchAll(new RegExp(`^${what} (\\d+)$`, 'gm'))]
      .map(([, time]) => Number(BigInt(time!) / 1000n) / 1000)
      .sort((a, b) => a - b);
  const ends = timesOf('end');
  return timesOf('begin')
    .slice(SLOTS)
    .map((begin, i) => begin - ends[i]!);
}

async function manyWorkers(site: Site): Promise<Figure[]> {
  const rows = Array.from({ length: 20_000 }, (_, i) => `item-${i},todo\n`).join('');
  const slots = WORKERS * SLOTS;
  const settings = {
    ...EIGHT_AT_ONCE,
    dispatch: 'stream',
    workspace: 'none',
    'current-batch-size': slots,
    'max-batch-size': slots,
  };
  using project = new Project({ settings, table: `name,${TASK}\n${rows}`, step: 'true' });
  const given = [site.url, site.key, WORKERS, SLOTS, BYTES_PER_SECOND].map(String);
  const workers = site.spawn([program('simulated-workers'), ...given]);
  const start = site.spawn([NIGHTSHIFT, 'start', SHIFT, '--plain', '--fleet', 'env'], project.root);
  await sleep(RAMP_MS);
  const watching = new AbortController();
  await using page = await servePage(project);
  const watched = watchGrid(page.url, watching.signal);
  const before = usageOf(start.pid!);
  const statuses: number[] = [];
  for (const end = performance.now() + WATCHED_MS; performance.now() < end; await sleep(5000)) {
    statuses.push((await node([NIGHTSHIFT, 'status', SHIFT], { cwd: project.root, env: site.env })).ms);
  }
  const after = usageOf(start.pid!);
  watching.abort();
  const { answers } = await watched;
  const cores = (after.cpuSeconds - before.cpuSeconds) / ((after.at - before.at) / 1000);
  for (const child of [start, workers]) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  const done = readFileSync(join(project.folder, 'table.csv'), 'utf8').split(',done').length - 1;
  if (done < slots) throw new Error(`only ${done} items were done`);
  const what = `${slots} simulated agents, 1 MB of transcripts a second, ${done} items done: the coordinator`;
  return [
    {
      what: `${what}'s processor`,
      ours: `${cores.toFixed(2)} cores`,
      other: '1 core',
      ratio: cores,
      target: atMost(1),
    },
    {
      what: `${what}'s most memory`,
      ours: megabytes(after.peakBytes),
      other: '400 MB',
      ratio: after.peakBytes / 400e6,
      target: atMost(1),
    },
    { what: '`status` meanwhile, median', ours: ms(medianOf(statuses)), other: '', ratio: undefined },
    {
      what: `the page meanwhile, of ${answers.length} answers: median ${ms(medianOf(answers))}`,
      ours: `99th percentile ${ms(percentile99(answers))}`,
      other: '',
      ratio: undefined,
    },
  ];
}

function percentile99(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length * 0.99)]!;
}

function usageOf(pid: number): { at: number; cpuSeconds: number; peakBytes: number } {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest!.split(' ');
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]!;
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
  return { at: performance.now(), cpuSeconds, peakBytes: Number(peak) * 1024 };
}

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'nightshift-bench-'));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
