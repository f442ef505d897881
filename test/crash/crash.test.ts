import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project, processesOf, type RunningProcess, type ShiftHandle, straysOf, until } from '../harness.ts';
import { crashShift, DISPATCHES, type Dispatch, setDispatch } from './crash-shift.ts';
import { environmentOf, failpointsOf, killAt } from './kill.ts';
import { type Attack, Plan } from './plan.ts';
import { Witness } from './witness.ts';

/** 10 in every `npm test`; CI asks for 150, and `npm run test:crash` for 1,000. */
const KILLS = Number(process.env.NIGHTSHIFT_KILLS ?? 10);
/** Busy processes beside it, so that moments come about that an idle machine never sees. */
const LOAD = Number(process.env.NIGHTSHIFT_LOAD ?? 0);
/** Printed with the figures. The same number plans the same kills for each lane. */
const SEED = Number(process.env.NIGHTSHIFT_SEED ?? Date.now() % 1_000_000);
/** Shifts that are killed side by side: mostly one waits while another works. */
const LANES = 3;
/** A loop that is long enough hits each of them, with either way of dispatch. */
const FAILPOINTS = DISPATCHES.flatMap((dispatch) => failpointsOf(dispatch).map((name) => `${dispatch} ${name}`));
const HITS_ALL = KILLS >= FAILPOINTS.length;

test('R1 R2 R6 T3 T5 P4 P8 X7 killed at any moment, a shift goes on where it was and ends as if nothing had happened', {
  timeout: 60_000 + KILLS * 5000,
}, async () => {
  console.log(`crash loop: NIGHTSHIFT_SEED=${SEED} plans the same kills`);
  using _load = new Load(LOAD);
  const loop = new CrashLoop();
  await Promise.all(Array.from({ length: LANES }, (_, lane) => loop.run(new Plan(SEED, lane))));
  console.log(loop.figures());
  expect(loop.violations).toEqual([]);
  expect(loop.kills).toBeGreaterThanOrEqual(KILLS);
  if (HITS_ALL) expect([...loop.atFailpoints.keys()].sort()).toEqual([...FAILPOINTS].sort());
});

class CrashLoop {
  kills = 0;
  readonly violations: string[] = [];
  readonly atFailpoints = new Map<string, number>();
  readonly #victims = { alone: 0, everything: 0 };
  readonly #killed: Record<Dispatch, number> = { batch: 0, stream: 0 };
  readonly #sums = { shifts: 0, devs: 0, again: 0, torn: 0 };
  #slowestMs = 0;

  async run(plan: Plan): Promise<void> {
    while (!this.#isOver) await this.#wholeShift(plan);
  }

  /** Enough kills, and in a long loop each failpoint was among them. */
  get #isOver(): boolean {
    return this.kills >= KILLS && (!HITS_ALL || this.atFailpoints.size === FAILPOINTS.length);
  }

  figures(): string {
    const named = [...this.atFailpoints.values()].reduce((sum, count) => sum + count, 0);
    const { shifts, devs, again, torn } = this.#sums;
    return [
      `crash loop: ${this.kills} kills (${this.#killed.batch} of batches, ${this.#killed.stream} of streams;`,
      `${named} at ${this.atFailpoints.size} failpoints, ${this.kills - named} at random moments;`,
      `${this.#victims.alone} of nightshift alone, ${this.#victims.everything} of everything), ${shifts} shifts to their end,`,
      `${devs} devs, ${again} of them again, ${torn} torn journal lines, groups gone within ${Math.ceil(this.#slowestMs)} ms,`,
      `${LOAD} busy processes beside it, ${this.violations.length} violations, seed ${SEED}`,
    ].join(' ');
  }

  /** Kill, start again in the other way of dispatch, kill, until it is finished: after the last kill of all it is left in peace. */
  async #wholeShift(plan: Plan): Promise<void> {
    const project = new Project();
    mkdirSync(project.path('tmp'));
    const shift = crashShift(project, plan.sequence);
    const witness = new Witness(shift, plan.sequence);
    while (await this.#oneRun(shift, witness, plan.next(this.#missing()))) {}
    this.#sums.shifts++;
    this.#sums.devs += witness.devs;
    this.#sums.again += witness.again;
    this.#sums.torn += witness.torn;
    this.violations.push(...witness.violations);
    if (KILLS > 100) console.log(this.figures());
  }

  /** False: it came to its end. */
  async #oneRun(shift: ShiftHandle, witness: Witness, attack: Attack): Promise<boolean> {
    const { dispatch, victim } = attack;
    setDispatch(shift, dispatch);
    const folder = shift.project.path(shift.folder);
    const strays = straysOf(folder);
    const moment = this.#isOver ? undefined : attack.moment;
    const versions = witness.versions();
    const environment = { TMPDIR: shift.project.path('tmp'), ...(moment ? environmentOf(moment) : {}) };
    const running = shift.spawn([], { env: environment });
    const resumed = this.#endsStrays(running, strays, folder);
    const killed = moment ? await killAt(running, moment, victim, folder) : false;
    const { code, events, stderr } = await running.ended;
    await resumed;
    if (!killed && code !== 3) throw new Error(`a run ended with exit code ${code}: ${stderr}\n${this.figures()}`);
    if (killed) this.#count(attack);
    await this.#nothingLives(folder, killed, victim);
    witness.look(dispatch, events, killed, versions);
    if (stderr !== '') witness.violations.push(`it said: ${stderr}`);
    return killed;
  }

  /** Empty until only so many kills are left as failpoints that were never hit. */
  #missing(): Record<Dispatch, string[]> {
    const isFree = !HITS_ALL || FAILPOINTS.length - this.atFailpoints.size < KILLS - this.kills;
    const missingOf = (dispatch: Dispatch) =>
      isFree ? [] : failpointsOf(dispatch).filter((name) => !this.atFailpoints.has(`${dispatch} ${name}`));
    return { batch: missingOf('batch'), stream: missingOf('stream') };
  }

  #count({ dispatch, moment, victim }: Attack): void {
    this.kills++;
    this.#killed[dispatch]++;
    this.#victims[victim]++;
    if (moment.kind !== 'failpoint') return;
    const point = `${dispatch} ${moment.name}`;
    this.atFailpoints.set(point, (this.atFailpoints.get(point) ?? 0) + 1);
  }

  /** What an earlier run left outside of its groups is gone when the next one has begun. */
  async #endsStrays(running: RunningProcess, strays: readonly number[], folder: string): Promise<void> {
    const began = new Promise<boolean>((resolve) => {
      running.child.stdout?.on('data', (text: string) => text.includes('"run:started"') && resolve(true));
      void running.ended.then(() => resolve(false));
    });
    if (!(await began)) return;
    const alive = straysOf(folder).filter((pid) => strays.includes(pid));
    if (alive.length > 0) this.violations.push(`${alive.length} processes of an earlier run live on`);
  }

  /** After the end of a run nothing at all; after a kill at most what has left its group. */
  async #nothingLives(folder: string, killed: boolean, victim: Attack['victim']): Promise<void> {
    const began = performance.now();
    const mayLive = killed && victim === 'alone' ? () => new Set(straysOf(folder)) : () => new Set<number>();
    const living = () => {
      const strays = mayLive();
      return processesOf(folder).filter((pid) => !strays.has(pid));
    };
    const what = `the end of all processes (${killed ? `killed: ${victim}` : 'at the end'})`;
    await until(() => living().length === 0, what, 30_000).catch((error: Error) => {
      throw new Error(`${error.message}: ${living().map(commandOf).join('; ')}\n${this.figures()}`);
    });
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
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
