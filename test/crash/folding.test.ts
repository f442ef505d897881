import { expect, test } from 'vitest';
import { Project, type RunningProcess, type ShiftHandle, sleep } from '../harness.ts';
import { DISPATCHES, setDispatch } from './crash-shift.ts';
import { addRow, foldingShift, type Mode } from './folding-shift.ts';
import { FoldingWitness } from './folding-witness.ts';
import { randomFrom } from './plan.ts';

/** A third of those of the crash loop: 50 in CI. */
const KILLS = Math.ceil(Number(process.env.NIGHTSHIFT_KILLS ?? 10) / 3);
const SEED = Number(process.env.NIGHTSHIFT_SEED ?? Date.now() % 1_000_000);
const LANES: readonly Mode[] = ['careful', 'eager', 'careful', 'eager'];

/** Around each write of a fold, and how many of them a run may see. */
const POINTS = {
  'lessons:written': 3,
  'lessons:synced': 3,
  'lessons:renamed': 3,
  'task:written': 3,
  'task:synced': 3,
  'task:renamed': 3,
  'steps:changed': 1,
  'steps:kept': 2,
  'lesson:changed': 3,
};
const NAMES = Object.keys(POINTS) as (keyof typeof POINTS)[];
/** A loop that is long enough hits each of them. */
const HITS_ALL = KILLS >= 3 * NAMES.length;
/** A fold takes about this long after the question to the manager's agent. */
const LONGEST_FOLD_MS = 250;

test('P8 L7 L8 L10 killed while lessons are folded: each is applied once, none is lost, each vote is counted once', {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const loop = new FoldingLoop();
  await Promise.all(LANES.map((mode, lane) => loop.run(mode, lane)));
  console.log(loop.figures());
  expect(loop.violations).toEqual([]);
  expect(loop.kills).toBeGreaterThanOrEqual(KILLS);
  if (HITS_ALL) expect([...loop.hit.keys()].sort()).toEqual([...NAMES].sort());
});

class FoldingLoop {
  kills = 0;
  readonly violations: string[] = [];
  readonly hit = new Map<string, number>();
  #shifts = 0;

  get #isOver(): boolean {
    return this.kills >= KILLS && (!HITS_ALL || this.hit.size === NAMES.length);
  }

  figures(): string {
    const named = [...this.hit.values()].reduce((sum, count) => sum + count, 0);
    return [
      `kills during folding: ${this.kills} (${named} at ${this.hit.size} failpoints, ${this.kills - named} at random`,
      `moments), ${this.#shifts} shifts to their end, ${this.violations.length} violations, seed ${SEED}`,
    ].join(' ');
  }

  async run(mode: Mode, lane: number): Promise<void> {
    const random = randomFrom(SEED + lane);
    while (!this.#isOver) await this.#wholeShift(mode, lane, random);
  }

  /** Each run has the other way of dispatch. The last one is not killed, and has a new row: it folds what is left. */
  async #wholeShift(mode: Mode, lane: number, random: () => number): Promise<void> {
    const shift = foldingShift(new Project(), mode);
    const witness = new FoldingWitness(shift, mode);
    let run = lane;
    const next = () => setDispatch(shift, DISPATCHES[run++ % DISPATCHES.length]!);
    for (let killed = true; killed; ) {
      next();
      killed = !this.#isOver && (await this.#killed(shift, witness, random));
    }
    addRow(shift);
    next();
    witness.hear('the last run', await shift.spawn().ended);
    witness.end();
    this.#shifts++;
    this.violations.push(...witness.violations.map((each) => `${mode}: ${each}`));
  }

  /** False: it came to its end before. */
  async #killed(shift: ShiftHandle, witness: FoldingWitness, random: () => number): Promise<boolean> {
    const name = this.#nextPoint(random);
    const nth = name === undefined ? 0 : 1 + Math.floor(random() * POINTS[name]);
    const running = shift.spawn([], name === undefined ? {} : { env: { NIGHTSHIFT_CRASH_AT: `${name}#${nth}` } });
    if (name === undefined) await killAfterQuestion(shift, running, random() * LONGEST_FOLD_MS);
    const ended = await running.ended;
    const when = name === undefined ? 'after a question' : `at ${name}#${nth}`;
    witness.hear(when, ended);
    if (ended.signal !== 'SIGKILL') return false;
    this.kills++;
    if (name !== undefined) this.hit.set(name, (this.hit.get(name) ?? 0) + 1);
    witness.look(when);
    return true;
  }

  /** Undefined: a random moment. At the end, only what was not hit yet. */
  #nextPoint(random: () => number): keyof typeof POINTS | undefined {
    const missing = NAMES.filter((name) => !this.hit.has(name));
    if (this.kills >= KILLS) return missing[Math.floor(random() * missing.length)];
    if (random() < 0.4) return undefined;
    const rarest = Math.min(...NAMES.map((name) => this.hit.get(name) ?? 0));
    const rare = NAMES.filter((name) => (this.hit.get(name) ?? 0) === rarest);
    return rare[Math.floor(random() * rare.length)];
  }
}

/** Kills this long after the next question to the manager's agent. */
async function killAfterQuestion(shift: ShiftHandle, running: RunningProcess, ms: number): Promise<void> {
  const asked = () => {
    const file = '.nightshift/questions.log';
    return shift.project.exists(file) ? shift.project.read(file).length : 0;
  };
  const before = asked();
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  while (!isOver && asked() === before) await sleep(5);
  await Promise.race([running.ended, sleep(ms)]);
  if (!isOver) running.kill('SIGKILL');
}
