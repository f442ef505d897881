import { readdirSync, readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project, processesOf, type ShiftHandle, until } from '../harness.ts';
import { environmentOf, killAt, type Moment, type Victim } from './kill.ts';
import { randomFrom } from './plan.ts';
import { environmentIn, type Lane, workspaceShift } from './workspace-shift.ts';
import { WorkspaceWitness } from './workspace-witness.ts';

/** A fifth of those of the crash loop: 30 in CI, 200 in `npm run test:crash`. */
const KILLS = Math.ceil(Number(process.env.NIGHTSHIFT_KILLS ?? 10) / 5);
const SEED = Number(process.env.NIGHTSHIFT_SEED ?? Date.now() % 1_000_000);
const LANES: readonly Lane[] = ['merge', 'pr', 'branch'];

/** Where a run is killed, and how many of these moments it may see. */
const EVERYWHERE = {
  ...{ 'workspace:recorded': 4, 'workspace:added': 4, 'workspace:ready': 4, 'workspace:kept': 6 },
  ...{ 'workspace:removed': 2, 'workspace:opened': 8, 'dev:started': 6, 'item:recorded': 10, 'table:renamed': 8 },
  ...{ 'delivery:committed': 2, 'delivery:intended': 2, 'delivery:branched': 2, 'delivery:recorded': 2 },
  'delivery:finished': 2,
};
const POINTS: Record<Lane, Record<string, number>> = {
  merge: { ...EVERYWHERE, 'delivery:merged': 2 },
  pr: { ...EVERYWHERE, 'delivery:pushed': 2, 'delivery:opened': 2 },
  branch: EVERYWHERE,
};
const NAMES = LANES.flatMap((lane) => Object.keys(POINTS[lane]).map((name) => `${lane} ${name}`));
/** A loop that is long enough hits each of them. */
const HITS_ALL = KILLS >= 2 * NAMES.length;

test('W7 W8 W9 killed while workspaces are made and delivered: no change is lost, none is delivered twice', {
  timeout: 120_000 + KILLS * 20_000,
}, async () => {
  console.log(`crash loop for workspaces: NIGHTSHIFT_SEED=${SEED} plans the same kills`);
  const loop = new WorkspaceLoop();
  await Promise.all(LANES.map((lane, number) => loop.run(lane, number)));
  console.log(loop.figures());
  expect(loop.violations).toEqual([]);
  expect(loop.kills).toBeGreaterThanOrEqual(KILLS);
  if (HITS_ALL) expect([...loop.hit.keys()].sort()).toEqual([...NAMES].sort());
});

class WorkspaceLoop {
  kills = 0;
  readonly violations: string[] = [];
  readonly hit = new Map<string, number>();
  readonly #victims = { alone: 0, everything: 0 };
  #shifts = 0;

  get #isOver(): boolean {
    return this.kills >= KILLS && (!HITS_ALL || this.hit.size === NAMES.length);
  }

  figures(): string {
    const named = [...this.hit.values()].reduce((sum, count) => sum + count, 0);
    return [
      `kills of workspaces: ${this.kills} (${named} at ${this.hit.size} failpoints, ${this.kills - named} at random`,
      `moments; ${this.#victims.alone} of nightshift alone, ${this.#victims.everything} of everything),`,
      `${this.#shifts} shifts to their end, ${this.violations.length} violations, seed ${SEED}`,
    ].join(' ');
  }

  async run(lane: Lane, number: number): Promise<void> {
    const random = randomFrom(SEED + number);
    do await this.#wholeShift(lane, random);
    while (!this.#isOver);
  }

  async #wholeShift(lane: Lane, random: () => number): Promise<void> {
    const shift = workspaceShift(new Project(), lane);
    const witness = new WorkspaceWitness(shift, lane);
    while (await this.#oneRun(shift, witness, this.#nextAttack(lane, random))) {}
    this.#shifts++;
    this.violations.push(...witness.violations);
    if (KILLS > 20) console.log(this.figures(), witness.violations);
  }

  /** False: it came to its end. */
  async #oneRun(shift: ShiftHandle, witness: WorkspaceWitness, attack: Attack | undefined): Promise<boolean> {
    const { project } = shift;
    const env = { ...environmentIn(project), ...(attack ? environmentOf(attack.moment) : {}) };
    const running = shift.spawn([], { env });
    const folder = project.path(shift.folder);
    const killed = attack ? await killAt(running, attack.moment, attack.victim, folder) : false;
    const ended = await running.ended;
    const living = () => [...processesOf(folder), ...processesIn(project.root)];
    await until(() => living().length === 0, 'the end of all processes', 30_000);
    witness.look(attack ? `${killed ? 'killed' : 'ended'} at ${JSON.stringify(attack)}` : 'not killed', ended);
    if (killed) this.#count(attack!);
    else witness.end(ended.code);
    return killed;
  }

  #count({ point, victim }: Attack): void {
    this.kills++;
    this.#victims[victim]++;
    if (point !== undefined) this.hit.set(point, (this.hit.get(point) ?? 0) + 1);
  }

  /** Undefined: enough kills. */
  #nextAttack(lane: Lane, random: () => number): Attack | undefined {
    if (this.#isOver) return undefined;
    const names = Object.keys(POINTS[lane]);
    const count = (name: string) => this.hit.get(`${lane} ${name}`) ?? 0;
    const isLate = this.kills >= KILLS;
    if (isLate && names.every((name) => count(name) > 0)) return undefined;
    if (!isLate && random() < 0.5) {
      return { moment: randomMoment(random), victim: random() < 0.5 ? 'everything' : 'alone' };
    }
    const rarest = Math.min(...names.map(count));
    const rare = names.filter((name) => count(name) === rarest);
    const name = rare[Math.floor(random() * rare.length)]!;
    const nth = 1 + Math.floor(random() * POINTS[lane][name]!);
    return { point: `${lane} ${name}`, moment: { kind: 'failpoint', name, nth }, victim: 'alone' };
  }
}

interface Attack {
  /** Absent: a random moment. */
  readonly point?: string;
  readonly moment: Moment;
  readonly victim: Victim;
}

/** After an event, since how long a start takes depends on the machine. */
function randomMoment(random: () => number): Moment {
  return { kind: 'event', nth: 1 + Math.floor(random() * 45), ms: random() * 400 };
}

/** Git and hooks work in the folders of the project. */
function processesIn(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return `${readlinkSync(`/proc/${name}/cwd`)}/`.startsWith(`${root}/`);
      } catch {
        return false;
      }
    })
    .map(Number);
}
