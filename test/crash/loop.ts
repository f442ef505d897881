import { expect } from 'vitest';
import type { Victim } from './kill.ts';

/** 10 in every `npm test`; CI asks for 150, and `npm run test:crash` for 1,000. Each loop takes its share. */
const ASKED = Number(process.env.NIGHTSHIFT_KILLS ?? 10);
/** Printed first. The same number plans the same kills for each lane. */
export const SEED = Number(process.env.NIGHTSHIFT_SEED ?? Date.now() % 1_000_000);

/** How one run is killed. */
export interface Attack {
  readonly victim: Victim;
  /** Absent: at a random moment. */
  readonly point?: string;
}

/** A shift on the way to its end. */
interface Trial<A extends Attack> {
  /** One run; without an attack, it is left in peace. Whether it was killed. */
  run(attack: A | undefined): Promise<boolean>;
  /** After the run that came to its end: what should not be, of all its runs. */
  end(): Promise<readonly string[]>;
}

/** Shifts that are killed one after the other. */
export interface Lane<A extends Attack> {
  /** A new shift. */
  begin(): Trial<A>;
  /** How its next run is killed; undefined: not at all. */
  next(): A | undefined;
}

interface LoopOptions {
  readonly name: string;
  /** One kill for so many that are asked for. */
  readonly oneOf: number;
  /** Where it kills by name. A loop that is long enough hits each of them. */
  readonly points: readonly string[];
  readonly longFrom: number;
  /** More figures. */
  readonly details?: () => string;
}

/** Kill, start again, kill, until the shift is finished, in several lanes side by side: mostly one of them waits. */
export class CrashLoop {
  /** How many kills it makes at least. */
  readonly wanted: number;
  readonly violations: string[] = [];
  readonly #options: LoopOptions;
  readonly #hits = new Map<string, number>();
  readonly #victims: Record<Victim, number> = { alone: 0, everything: 0 };
  #shifts = 0;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.wanted = Math.ceil(ASKED / options.oneOf);
  }

  get kills(): number {
    return this.#victims.alone + this.#victims.everything;
  }

  async run(lanes: readonly Lane<Attack>[]): Promise<void> {
    console.log(`${this.#options.name}: NIGHTSHIFT_SEED=${SEED} plans the same kills`);
    await Promise.all(lanes.map((lane) => this.#wholeShifts(lane)));
    console.log(this.figures());
    expect(this.violations).toEqual([]);
    expect(this.kills).toBeGreaterThanOrEqual(this.wanted);
    if (this.#isLong) expect(this.#unhit(this.#options.points)).toEqual([]);
  }

  /** Those that must come next, since only so many kills are left; none before. */
  missing(names: readonly string[]): string[] {
    const isDue = this.#isLong && this.#unhit(this.#options.points).length >= this.wanted - this.kills;
    return isDue ? this.#unhit(names) : [];
  }

  /** One of those that were hit least. */
  rarest(names: readonly string[], random: () => number): string {
    const least = Math.min(...names.map((name) => this.#hits.get(name) ?? 0));
    return oneOf(
      names.filter((name) => (this.#hits.get(name) ?? 0) === least),
      random,
    );
  }

  figures(): string {
    const named = [...this.#hits.values()].reduce((sum, count) => sum + count, 0);
    const { name, details } = this.#options;
    const { alone, everything } = this.#victims;
    return [
      `${name}: ${this.kills} kills (${named} at ${this.#hits.size} points, ${this.kills - named} at random moments;`,
      `${alone} of nightshift alone, ${everything} of everything), ${this.#shifts} shifts to their end,`,
      ...(details ? [`${details()},`] : []),
      `${this.violations.length} violations, seed ${SEED}`,
    ].join(' ');
  }

  async #wholeShifts<A extends Attack>(lane: Lane<A>): Promise<void> {
    while (!this.#isOver) {
      const trial = lane.begin();
      while (await this.#oneRun(lane, trial)) {}
      this.violations.push(...(await trial.end()));
      this.#shifts++;
      if (this.wanted > 20) console.log(this.figures(), this.violations);
    }
  }

  /** False: it came to its end. After the last kill of all, shifts are left in peace. */
  async #oneRun<A extends Attack>(lane: Lane<A>, trial: Trial<A>): Promise<boolean> {
    const attack = this.#isOver ? undefined : lane.next();
    const killed = await trial.run(attack);
    if (!killed || !attack) return killed;
    this.#victims[attack.victim]++;
    if (attack.point !== undefined) this.#hits.set(attack.point, (this.#hits.get(attack.point) ?? 0) + 1);
    return true;
  }

  get #isOver(): boolean {
    return this.kills >= this.wanted && (!this.#isLong || this.#unhit(this.#options.points).length === 0);
  }

  get #isLong(): boolean {
    return this.wanted >= this.#options.longFrom;
  }

  #unhit(names: readonly string[]): string[] {
    return names.filter((name) => !this.#hits.has(name));
  }
}

export function oneOf<T>(all: readonly T[], random: () => number): T {
  return all[Math.floor(random() * all.length)]!;
}
