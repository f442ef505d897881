import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { test } from 'vitest';
import { Project, processesOf, type RunningProcess, straysOf, until } from '../harness.ts';
import { crashShift, DISPATCHES, type Dispatch, setDispatch } from './crash-shift.ts';
import { environmentOf, killAt, type Victim } from './kill.ts';
import { CrashLoop, type Lane, SEED } from './loop.ts';
import { Plan, type PlannedAttack, pointsOf } from './plan.ts';
import { Witness } from './witness.ts';

/** Busy processes beside it, so that moments come about that an idle machine never sees. */
const LOAD = Number(process.env.NIGHTSHIFT_LOAD ?? 0);
const LANES = 3;
/** With either way of dispatch. */
const POINTS = DISPATCHES.flatMap(pointsOf);

const killed: Record<Dispatch, number> = { batch: 0, stream: 0 };
const sums = { devs: 0, again: 0, torn: 0, slowestMs: 0 };

const loop = new CrashLoop({
  ...{ name: 'crash loop', oneOf: 1, points: POINTS, longFrom: POINTS.length },
  details: () =>
    [
      `${killed.batch} kills of batches and ${killed.stream} of streams, ${sums.devs} devs, ${sums.again} of them again,`,
      `${sums.torn} torn journal lines, groups gone within ${Math.ceil(sums.slowestMs)} ms, ${LOAD} busy processes beside it`,
    ].join(' '),
});

test('R1 R2 R6 T3 T5 P4 P8 X7 killed at any moment, a shift goes on where it was and ends as if nothing had happened', {
  timeout: 60_000 + loop.wanted * 5000,
}, async () => {
  using _load = new Load(LOAD);
  await loop.run(Array.from({ length: LANES }, (_, number) => laneOf(new Plan(SEED, number))));
});

function laneOf(plan: Plan): Lane<PlannedAttack> {
  return { begin: () => new CrashTrial(plan), next: () => plan.next((names) => loop.missing(names)) };
}

/** Each run has the way of dispatch that the plan says. */
class CrashTrial {
  readonly #project = new Project();
  readonly #plan: Plan;
  readonly #shift;
  readonly #witness;
  readonly #folder: string;

  constructor(plan: Plan) {
    this.#plan = plan;
    mkdirSync(this.#project.path('tmp'));
    this.#shift = crashShift(this.#project, plan.sequence);
    this.#witness = new Witness(this.#shift, plan.sequence);
    this.#folder = this.#project.path(this.#shift.folder);
  }

  async run(attack: PlannedAttack | undefined): Promise<boolean> {
    const { dispatch, victim } = attack ?? this.#plan.next();
    setDispatch(this.#shift, dispatch);
    const strays = straysOf(this.#folder);
    const versions = this.#witness.versions();
    const env = { TMPDIR: this.#project.path('tmp'), ...(attack ? environmentOf(attack.moment) : {}) };
    const running = this.#shift.spawn([], { env });
    const resumed = this.#endsStrays(running, strays);
    const isKilled = attack ? await killAt(running, attack.moment, victim, this.#folder) : false;
    const { code, events, stderr } = await running.ended;
    await resumed;
    if (!isKilled && code !== 3) throw new Error(`a run ended with exit code ${code}: ${stderr}\n${loop.figures()}`);
    if (isKilled) killed[dispatch]++;
    await this.#nothingLives(isKilled ? victim : undefined);
    this.#witness.look(dispatch, events, isKilled, versions);
    if (stderr !== '') this.#witness.violations.push(`it said: ${stderr}`);
    return isKilled;
  }

  async end(): Promise<readonly string[]> {
    for (const name of ['devs', 'again', 'torn'] as const) sums[name] += this.#witness[name];
    return this.#witness.violations;
  }

  /** What an earlier run left outside of its groups is gone when the next one has begun. */
  async #endsStrays(running: RunningProcess, strays: readonly number[]): Promise<void> {
    const began = new Promise<boolean>((resolve) => {
      running.child.stdout?.on('data', (text: string) => text.includes('"run:started"') && resolve(true));
      void running.ended.then(() => resolve(false));
    });
    if (!(await began)) return;
    const alive = straysOf(this.#folder).filter((pid) => strays.includes(pid));
    if (alive.length > 0) this.#witness.violations.push(`${alive.length} processes of an earlier run live on`);
  }

  /** After the end of a run nothing at all; after a kill of nightshift alone at most what has left its group. */
  async #nothingLives(victim: Victim | undefined): Promise<void> {
    const began = performance.now();
    const living = () => {
      const strays = victim === 'alone' ? straysOf(this.#folder) : [];
      return processesOf(this.#folder).filter((pid) => !strays.includes(pid));
    };
    const what = `the end of all processes (${victim === undefined ? 'at the end' : `killed: ${victim}`})`;
    await until(() => living().length === 0, what, 30_000).catch((error: Error) => {
      throw new Error(`${error.message}: ${living().map(commandOf).join('; ')}\n${loop.figures()}`);
    });
    sums.slowestMs = Math.max(sums.slowestMs, performance.now() - began);
  }
}

/** Each keeps a core busy, and ends by itself when the tests are gone. */
class Load implements Disposable {
  readonly #busy;

  constructor(count: number) {
    const loop = 'const { ppid } = process; while (process.ppid === ppid) for (let i = 0; i < 1e7; i++);';
    this.#busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', loop], { stdio: 'ignore' }));
  }

  [Symbol.dispose](): void {
    for (const each of this.#busy) each.kill('SIGKILL');
  }
}

function commandOf(pid: number): string {
  try {
    return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`;
  } catch {
    return `${pid} is gone`;
  }
}
