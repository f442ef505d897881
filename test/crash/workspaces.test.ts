import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'vitest';
import { Project, processesOf, until } from '../harness.ts';
import { environmentOf, killAt, type Moment } from './kill.ts';
import { type Attack, CrashLoop, type Lane, oneOf, SEED } from './loop.ts';
import { randomFrom } from './plan.ts';
import { type Delivery, environmentIn, workspaceShift } from './workspace-shift.ts';
import { WorkspaceWitness } from './workspace-witness.ts';

const DELIVERIES: readonly Delivery[] = ['merge', 'pr', 'branch'];

/** Where a run is killed, and how many of these moments it may see. */
const EVERYWHERE = {
  ...{ 'workspace:recorded': 4, 'workspace:added': 4, 'workspace:ready': 4, 'workspace:kept': 6 },
  ...{ 'workspace:removed': 2, 'workspace:opened': 8, 'dev:started': 6, 'item:recorded': 10, 'table:renamed': 8 },
  ...{ 'delivery:committed': 2, 'delivery:intended': 2, 'delivery:branched': 2, 'delivery:recorded': 2 },
  'delivery:finished': 2,
};
const POINTS: Record<Delivery, Record<string, number>> = {
  merge: { ...EVERYWHERE, 'delivery:merged': 2 },
  pr: { ...EVERYWHERE, 'delivery:pushed': 2, 'delivery:opened': 2 },
  branch: EVERYWHERE,
};
const pointsOf = (delivery: Delivery) => Object.keys(POINTS[delivery]).map((name) => `${delivery} ${name}`);
const ALL = DELIVERIES.flatMap(pointsOf);

/** A fifth of those of the crash loop: 30 in CI, 200 in `npm run test:crash`. */
const loop = new CrashLoop({ name: 'kills of workspaces', oneOf: 5, points: ALL, longFrom: 2 * ALL.length });

test('W7 W8 W9 killed while workspaces are made and delivered: no change is lost, none is delivered twice', {
  timeout: 120_000 + loop.wanted * 20_000,
}, async () => {
  await loop.run(DELIVERIES.map(laneOf));
});

interface WorkspaceAttack extends Attack {
  readonly moment: Moment;
}

function laneOf(delivery: Delivery, number: number): Lane<WorkspaceAttack> {
  const random = randomFrom(SEED + number);
  const names = pointsOf(delivery);
  const at = (point: string): WorkspaceAttack => {
    const [, name = ''] = point.split(' ');
    const nth = 1 + Math.floor(random() * POINTS[delivery][name]!);
    return { point, moment: { kind: 'failpoint', name, nth }, victim: 'alone' };
  };
  return {
    begin: () => new WorkspaceTrial(delivery),
    next: () => {
      const missing = loop.missing(names);
      if (missing.length > 0) return at(oneOf(missing, random));
      if (loop.kills >= loop.wanted) return undefined;
      if (random() < 0.5) return at(loop.rarest(names, random));
      return { moment: randomMoment(random), victim: random() < 0.5 ? 'everything' : 'alone' };
    },
  };
}

/** After an event, since how long a start takes depends on the machine. */
function randomMoment(random: () => number): Moment {
  return { kind: 'event', nth: 1 + Math.floor(random() * 45), ms: random() * 400 };
}

class WorkspaceTrial {
  readonly #project = new Project();
  readonly #shift;
  readonly #witness;

  constructor(delivery: Delivery) {
    this.#shift = workspaceShift(this.#project, delivery);
    this.#witness = new WorkspaceWitness(this.#shift, delivery);
  }

  async run(attack: WorkspaceAttack | undefined): Promise<boolean> {
    const env = { ...environmentIn(this.#project), ...(attack ? environmentOf(attack.moment) : {}) };
    const running = this.#shift.spawn([], { env });
    const folder = this.#project.path(this.#shift.folder);
    const killed = attack ? await killAt(running, attack.moment, attack.victim, folder) : false;
    const ended = await running.ended;
    const living = () => [...processesOf(folder), ...processesIn(this.#project.root)];
    await until(() => living().length === 0, 'the end of all processes', 30_000);
    this.#witness.look(attack ? `${killed ? 'killed' : 'ended'} at ${JSON.stringify(attack)}` : 'not killed', ended);
    if (!killed) this.#witness.end(ended.code);
    return killed;
  }

  async end(): Promise<readonly string[]> {
    return this.#witness.violations;
  }
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
