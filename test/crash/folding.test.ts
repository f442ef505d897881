import { test } from 'vitest';
import { Project, type RunningProcess, type ShiftHandle, sleep } from '../harness.ts';
import { DISPATCHES, setDispatch } from './crash-shift.ts';
import { addRow, foldingShift, type Mode } from './folding-shift.ts';
import { FoldingWitness } from './folding-witness.ts';
import { type Attack, CrashLoop, type Lane, oneOf, SEED } from './loop.ts';
import { randomFrom } from './plan.ts';

const MODES: readonly Mode[] = ['careful', 'eager', 'careful', 'eager'];

/** Around each write of a fold, and how many of them a run may see. */
const POINTS: Record<string, number> = {
  ...{ 'lessons:written': 3, 'lessons:synced': 3, 'lessons:renamed': 3 },
  ...{ 'task:written': 3, 'task:synced': 3, 'task:renamed': 3 },
  ...{ 'steps:changed': 1, 'steps:kept': 2, 'lesson:changed': 3 },
};
const NAMES = Object.keys(POINTS);
/** A fold takes about this long after the question to the manager's agent. */
const LONGEST_FOLD_MS = 250;

/** A third of those of the crash loop: 50 in CI. */
const loop = new CrashLoop({ name: 'kills during folding', oneOf: 3, points: NAMES, longFrom: 3 * NAMES.length });

test('P8 L7 L8 L10 killed while lessons are folded: each is applied once, none is lost, each vote is counted once', {
  timeout: 60_000 + loop.wanted * 10_000,
}, async () => {
  await loop.run(MODES.map(laneOf));
});

/** At a point, or so long after a question to the manager's agent. */
interface FoldingAttack extends Attack {
  readonly nth: number;
  readonly ms: number;
}

function laneOf(mode: Mode, number: number): Lane<FoldingAttack> {
  const random = randomFrom(SEED + number);
  const at = (point: string): FoldingAttack => {
    return { point, nth: 1 + Math.floor(random() * POINTS[point]!), ms: 0, victim: 'alone' };
  };
  return {
    begin: () => new FoldingTrial(mode, number),
    next: () => {
      const missing = loop.missing(NAMES);
      if (missing.length > 0) return at(oneOf(missing, random));
      if (random() < 0.6) return at(loop.rarest(NAMES, random));
      return { nth: 0, ms: random() * LONGEST_FOLD_MS, victim: 'alone' };
    },
  };
}

/** Each run has the other way of dispatch. */
class FoldingTrial {
  readonly #mode: Mode;
  readonly #shift;
  readonly #witness;
  #runs: number;

  constructor(mode: Mode, first: number) {
    this.#mode = mode;
    this.#runs = first;
    this.#shift = foldingShift(new Project(), mode);
    this.#witness = new FoldingWitness(this.#shift, mode);
  }

  async run(attack: FoldingAttack | undefined): Promise<boolean> {
    if (!attack) return false;
    const { point, nth, ms } = attack;
    const env: Record<string, string> = point === undefined ? {} : { NIGHTSHIFT_CRASH_AT: `${point}#${nth}` };
    const running = this.#start(env);
    if (point === undefined) await killAfterQuestion(this.#shift, running, ms);
    const ended = await running.ended;
    const when = point === undefined ? 'after a question' : `at ${point}#${nth}`;
    this.#witness.hear(when, ended);
    const killed = ended.signal === 'SIGKILL';
    if (killed) this.#witness.look(when);
    return killed;
  }

  /** The last run is not killed, and has a new row: it folds what is left. */
  async end(): Promise<readonly string[]> {
    addRow(this.#shift);
    this.#witness.hear('the last run', await this.#start({}).ended);
    this.#witness.end();
    return this.#witness.violations.map((each) => `${this.#mode}: ${each}`);
  }

  #start(env: Record<string, string>): RunningProcess {
    setDispatch(this.#shift, DISPATCHES[this.#runs++ % DISPATCHES.length]!);
    return this.#shift.spawn([], { env });
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
