import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../../src/core/model/errors.ts';
import type { EventType } from '../../src/core/model/events.ts';
import { FLEET_POINTS, type FleetPoint } from '../../src/fleet/coordinator/fleet-options.ts';
import { WRITE_POINTS } from '../../src/store/folder/files/atomic-write.ts';
import { task } from '../harness.ts';
import type { TestPostgres } from '../kit/postgres.ts';
import { randomFrom } from '../kit/random.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';

type Point = FleetPoint | EventType | (typeof WRITE_POINTS)[number];

/** Those of a fleet's own, and what stands beside them. After `item:recorded`, the next run dismisses its order. */
export const OWN_POINTS: readonly Point[] = ['batch:claimed', 'table:renamed', 'item:recorded', ...FLEET_POINTS];
/** At the start of a run, some of them only after certain ends of the run before. */
const ONCE: readonly Point[] = [
  ...(['fleet:begun', 'orders:found', 'order:dismissed', 'order:adopted', 'run:started', 'worker:joined'] as const),
];

/** What a run finds at its start only if the one before was killed there. */
const AFTER: ReadonlyMap<Point, Point> = new Map([
  ['order:adopted', 'order:sent'],
  ['order:dismissed', 'item:recorded'],
]);

function withBefore(point: Point): Point[] {
  const before = AFTER.get(point);
  return before ? [before, point] : [point];
}

const EVENTS = [
  ...(['run:started', 'batch:claimed', 'dev:started', 'attempt:finished', 'usage:spent', 'dev:finished'] as const),
  ...(['qa:started', 'qa:finished', 'progress', 'worker:joined', 'item:recorded'] as const),
] as const;
const WRITES = WRITE_POINTS.filter((name) => /^(table|journal|document)/.test(name));

/** Everywhere a coordinator of this shift comes by. */
export const ALL_POINTS: readonly Point[] = [...WRITES, ...EVENTS, ...FLEET_POINTS];

const TASK = 'work';
const DEV_SECONDS = 0.3;

export interface KillPlan {
  readonly points: readonly Point[];
  readonly times: number;
  /** Of each shift. */
  readonly rows: number;
  readonly seed: number;
}

export interface KillsEnd {
  readonly kills: number;
  readonly shifts: number;
  /** Points that were never reached. */
  readonly missed: readonly string[];
  readonly repeated: readonly string[];
  readonly notDone: readonly string[];
  /** Rows without exactly one end of a dev and one of a qa in the journal. */
  readonly untold: readonly string[];
  /** In millionths of a dollar: what the agents said, and what the journal has. */
  readonly said: number;
  readonly counted: number;
}

/** Shifts with devs and qas that cost money, whose coordinator is killed at one point after the other. */
export class CoordinatorKills {
  readonly #postgres: TestPostgres;
  readonly #rows: number;
  readonly #random: () => number;
  readonly #left: Point[];
  /** How often in a row shifts ended before they got there. */
  readonly #missed = new Map<Point, number>();
  #kills = 0;

  constructor(plan: KillPlan, postgres: TestPostgres) {
    this.#postgres = postgres;
    this.#rows = plan.rows;
    this.#random = randomFrom(plan.seed);
    this.#left = Array.from({ length: plan.times }, () => plan.points.flatMap(withBefore)).flat();
  }

  async run(): Promise<KillsEnd> {
    const ends: ShiftEnd[] = [];
    while (ends.length === 0 || this.#left.length > 0) ends.push(await this.#shift());
    return {
      kills: this.#kills,
      shifts: ends.length,
      missed: [...this.#missed].flatMap(([name, times]) => (times >= MOST_MISSES ? [name] : [])),
      repeated: ends.flatMap(({ repeated }) => repeated),
      notDone: ends.flatMap(({ notDone }) => notDone),
      untold: ends.flatMap(({ untold }) => untold),
      said: ends.reduce((sum, { said }) => sum + said, 0),
      counted: ends.reduce((sum, { counted }) => sum + counted, 0),
    };
  }

  async #shift(): Promise<ShiftEnd> {
    const site = newSite(this.#postgres, this.#rows);
    const workers = ['w1', 'w2'].map((name) => site.worker(name, { slots: 4 }));
    for (;;) {
      const point = this.#left.shift();
      const coordinator = site.coordinator(point ? { env: { NIGHTSHIFT_CRASH_AT: this.#momentOf(point) } } : {});
      const { code, signal } = await coordinator.ended;
      if (signal === 'SIGKILL') {
        this.#kills++;
        if (point) this.#missed.delete(point);
        continue;
      }
      if (point) this.#miss(point);
      if (code !== EXIT.done) throw new Error(`a coordinator ended with ${code}: ${coordinator.log.slice(-2000)}`);
      break;
    }
    await Promise.all(workers.map((worker) => worker.kill()));
    return endOf(site);
  }

  #momentOf(point: Point): string {
    const nth = ONCE.includes(point) ? 1 : 1 + Math.floor(this.#random() * 3);
    return `${point}#${nth}`;
  }

  /** The shift came to its end before: another one may get there. */
  #miss(point: Point): void {
    const times = (this.#missed.get(point) ?? 0) + 1;
    this.#missed.set(point, times);
    if (times < MOST_MISSES) this.#left.push(...withBefore(point));
  }
}

/** A point that so many shifts did not reach is none. */
const MOST_MISSES = 5;

interface ShiftEnd extends Pick<KillsEnd, 'repeated' | 'notDone' | 'untold' | 'said' | 'counted'> {}

function newSite(postgres: TestPostgres, rows: number): FleetSite {
  const agent = resolve('test/fleet/agent.sh');
  const configuration = (witness: string) =>
    `- agent: command\n- command: ${agent} ${witness} ${DEV_SECONDS}\n- workspace: none`;
  return new FleetSite({
    postgres,
    table: tableOf(rows, [TASK]),
    tasks: (witness) => ({
      [TASK]: task({ configuration: configuration(witness), steps: '1. Do {name}', validation: '- It is good' }),
    }),
    settings: { 'current-batch-size': 8, 'max-batch-size': 8 },
  });
}

function endOf(site: FleetSite): ShiftEnd {
  const lines = readFileSync(site.witness, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ') as [string, string, string, string, string]);
  const begun = new Map<string, number>();
  for (const [what, role, row] of lines)
    if (what === 'begin') begun.set(`${role} of row ${row}`, (begun.get(`${role} of row ${row}`) ?? 0) + 1);
  const journal = site.journal();
  const spent = journal.flatMap(({ type, usage }) => (type === 'usage:spent' ? [millionths(usage.costUsd)] : []));
  const ends = journal.filter(({ type }) => type === 'dev:finished' || type === 'qa:finished');
  const untold = site.shift.rows().flatMap((_, row) => {
    const types = ends.flatMap(({ type, index }) => (index === row ? [type] : [])).join();
    return types === 'dev:finished,qa:finished' ? [] : [`row ${row + 1}: ${types}`];
  });
  return {
    repeated: [...begun].flatMap(([name, times]) => (times > 1 ? [`${name}: ${times} times`] : [])),
    notDone: site.shift.column(TASK).flatMap((status, row) => (status === 'done' ? [] : [`row ${row + 1}: ${status}`])),
    untold,
    said: sum(lines.flatMap(([what, , , , cost]) => (what === 'end' ? [Number(cost)] : []))),
    counted: sum(spent),
  };
}

function millionths(usd: number): number {
  return Math.round(usd * 1_000_000);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

export function figures({ kills, shifts, repeated, said, counted }: KillsEnd, seed: number): string {
  const dollars = (amount: number) => `$${(amount / 1_000_000).toFixed(6)}`;
  return [
    `the coordinator killed ${kills} times at its failpoints, in ${shifts} shifts: ${repeated.length} repeated;`,
    `agents said that they cost ${dollars(said)}, the journal has ${dollars(counted)}; seed ${seed}`,
  ].join(' ');
}
