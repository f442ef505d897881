import { EXIT } from '../../src/core/model/errors.ts';
import { sleep } from '../harness.ts';
import type { TestPostgres } from '../kit/postgres.ts';
import { randomFrom } from '../kit/random.ts';
import { judge, type Verdict, witnessTask } from './agent-runs.ts';
import { type FleetProcess, FleetSite, LEASE_MS, tableOf } from './fleet-kit.ts';

type Act = 'workerKills' | 'coordinatorKills' | 'stops' | 'crashes';

export interface SoakPlan {
  readonly rows: number;
  /** How long an order takes. */
  readonly seconds: number;
  readonly workers: number;
  readonly slots: number;
  /** How often each thing is done, in random order. `stops`: of a worker, for longer than its lease. */
  readonly acts: Readonly<Record<Act, number>>;
  readonly seed: number;
  readonly longestMs: number;
}

export interface SoakEnd extends Verdict {
  readonly acts: Readonly<Record<Act, number>>;
  readonly seconds: number;
  /** Rows whose recorded end changed later. */
  readonly changed: readonly string[];
  /** Ends of coordinators that nobody killed. One that starts while the database is down ends. */
  readonly exits: readonly string[];
}

const TASK = 'work';
/** A worker that is stopped for longer than its lease. */
const STOPPED_MS = LEASE_MS + 4000;

/** One shift of many short orders, while its workers, its coordinator and its database are killed at random. */
export class Soak {
  readonly #plan: SoakPlan;
  readonly #postgres: TestPostgres;
  readonly #random: () => number;
  readonly #site: FleetSite;
  readonly #workers: FleetProcess[] = [];
  readonly #stopped = new Map<number, Promise<void>>();
  readonly #counts: Record<Act, number> = { workerKills: 0, coordinatorKills: 0, stops: 0, crashes: 0 };
  readonly #recorded = new Map<number, string>();
  readonly #changed: string[] = [];
  readonly #exits: string[] = [];
  #coordinator: FleetProcess | undefined;
  #isOver = false;

  constructor(plan: SoakPlan, postgres: TestPostgres) {
    const most = plan.workers * plan.slots;
    this.#plan = plan;
    this.#postgres = postgres;
    this.#random = randomFrom(plan.seed);
    this.#site = new FleetSite({
      postgres,
      table: tableOf(plan.rows, [TASK], ['by']),
      tasks: (witness) => ({ [TASK]: witnessTask(witness, plan.seconds) }),
      settings: { 'current-batch-size': most, 'max-batch-size': most },
    });
  }

  async run(): Promise<SoakEnd> {
    const began = performance.now();
    for (let i = 0; i < this.#plan.workers; i++) this.#startWorker(i);
    const finished = this.#keepCoordinator();
    const deadline = sleep(this.#plan.longestMs).then(() => {
      this.#isOver = true;
    });
    await Promise.race([this.#doActs(), deadline]);
    await Promise.race([finished, deadline]);
    this.#isOver = true;
    this.#coordinator?.child.kill('SIGKILL');
    await Promise.all([...this.#workers.map((worker) => worker.kill()), finished]);
    this.#look();
    return {
      ...judge(this.#site, TASK, this.#plan.seconds),
      acts: this.#counts,
      seconds: Math.round((performance.now() - began) / 1000),
      changed: this.#changed,
      exits: this.#exits,
    };
  }

  /** As a service manager does: whenever it ends before everything is done, it is started again. */
  async #keepCoordinator(): Promise<void> {
    while (!this.#isOver) {
      this.#coordinator = this.#site.coordinator();
      const { code, signal } = await this.#coordinator.ended;
      if (code === EXIT.done || code === EXIT.failedItems) this.#isOver = true;
      if (this.#isOver) return;
      if (signal !== 'SIGKILL') this.#exits.push(`exit ${code}: ${this.#coordinator.log.slice(-500)}`);
      await sleep(100);
    }
  }

  #startWorker(index: number): void {
    this.#workers[index] = this.#site.worker(`w${index}`, { slots: this.#plan.slots });
  }

  /** All of them before the last row is done: at random times, or sooner if the work is ahead of them. */
  async #doActs(): Promise<void> {
    const acts = shuffled(listed(this.#plan.acts), this.#random);
    for (const [index, act] of acts.entries()) {
      const due = performance.now() + 500 + this.#random() * 3000;
      const rows = (this.#plan.rows * (index + 1)) / (acts.length + 2);
      while (this.#look() < rows && (index === 0 || performance.now() < due) && !this.#isOver) await sleep(50);
      if (this.#isOver) return;
      await this.#do(act);
      this.#counts[act]++;
    }
    await Promise.all(this.#stopped.values());
  }

  async #do(act: Act): Promise<void> {
    if (act === 'coordinatorKills') await this.#killCoordinator();
    else if (act === 'crashes') await this.#postgres.crash();
    else if (act === 'stops') this.#stop(await this.#pick());
    else {
      const index = await this.#pick();
      await this.#workers[index]!.kill();
      this.#startWorker(index);
    }
  }

  async #killCoordinator(): Promise<void> {
    // The one before may just have ended.
    while (!this.#coordinator?.isRunning && !this.#isOver) await sleep(20);
    await this.#coordinator?.kill();
  }

  #stop(index: number): void {
    const worker = this.#workers[index]!;
    worker.child.kill('SIGSTOP');
    const ending = sleep(STOPPED_MS).then(() => {
      worker.child.kill('SIGCONT');
      this.#stopped.delete(index);
    });
    this.#stopped.set(index, ending);
  }

  /** A worker that is not stopped. */
  async #pick(): Promise<number> {
    if (this.#stopped.size === this.#workers.length) await Promise.race(this.#stopped.values());
    const free = this.#workers.map((_, i) => i).filter((i) => !this.#stopped.has(i));
    return free[Math.floor(this.#random() * free.length)]!;
  }

  /** How many rows are done. What is recorded never changes. */
  #look(): number {
    for (const [row, { [TASK]: status, by = '' }] of this.#site.shift.rows().entries()) {
      const before = this.#recorded.get(row);
      if (before !== undefined && (status !== 'done' || by !== before))
        this.#changed.push(`row ${row + 1} was done by ${before}, and is ${status} by ${by}`);
      if (status === 'done') this.#recorded.set(row, by);
    }
    return this.#recorded.size;
  }
}

function listed(acts: Readonly<Record<Act, number>>): Act[] {
  return Object.entries(acts).flatMap(([act, times]) => Array.from({ length: times }, () => act as Act));
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/** The figures of a soak in one line. */
export function figures(seed: number, end: SoakEnd): string {
  const { acts, seconds, repeated, lost, recordedTwice, acceptedBesideAnother, changed, exits } = end;
  return [
    `soak: ${seconds} s, ${acts.workerKills} kills of workers, ${acts.coordinatorKills} of the coordinator,`,
    `${acts.stops} workers stopped, ${acts.crashes} crashes of PostgreSQL: ${lost.length} lost,`,
    `${recordedTwice.length} recorded twice, ${changed.length} changed, ${acceptedBesideAnother.length} accepted while`,
    `another ran, ${repeated} repeated; ${exits.length} coordinators ended by themselves; seed ${seed}`,
  ].join(' ');
}
