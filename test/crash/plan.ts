import type { Sequence } from '../../src/core/model/model.ts';
import { DISPATCHES, type Dispatch } from './crash-shift.ts';
import { failpointMoment, failpointsOf, type Moment, randomMoment } from './kill.ts';
import { type Attack, oneOf } from './loop.ts';

/** How one run is dispatched, and when and what is killed. */
export interface PlannedAttack extends Attack {
  readonly dispatch: Dispatch;
  readonly moment: Moment;
}

/** The failpoints of runs with this dispatch. */
export function pointsOf(dispatch: Dispatch): string[] {
  return failpointsOf(dispatch).map((name) => `${dispatch} ${name}`);
}

/**
 * The attacks of one lane, run by run. They depend on the seed and the lane alone, not on how earlier runs went, so
 * the same seed repeats them.
 */
export class Plan {
  /** Of all shifts of this lane. */
  readonly sequence: Sequence;
  readonly #random: () => number;
  /** Failpoints that come before others come a second time. */
  readonly #points: Record<Dispatch, string[]> = { batch: [], stream: [] };
  #run: number;

  constructor(seed: number, lane: number) {
    this.#random = randomFrom(seed + lane);
    this.#run = lane;
    this.sequence = lane % 2 === 0 ? 'tasks' : 'rows';
  }

  /** `missing`: those of these points that must be hit next, if there are any. */
  next(missing: (points: readonly string[]) => readonly string[] = () => []): PlannedAttack {
    const random = this.#random;
    const dispatch = DISPATCHES[this.#run++ % DISPATCHES.length]!;
    const at = (point: string): PlannedAttack => {
      return { dispatch, point, moment: failpointMoment(point.split(' ')[1]!, random), victim: 'alone' };
    };
    const wanted = missing(pointsOf(dispatch));
    if (wanted.length > 0) return at(oneOf(wanted, random));
    if (random() >= 0.5) return at(this.#nextPoint(dispatch));
    return { dispatch, moment: randomMoment(random), victim: random() < 0.5 ? 'everything' : 'alone' };
  }

  #nextPoint(dispatch: Dispatch): string {
    const points = this.#points[dispatch];
    if (points.length === 0) points.push(...shuffled(pointsOf(dispatch), this.#random));
    return points.shift()!;
  }
}

function shuffled(names: readonly string[], random: () => number): string[] {
  const left = [...names];
  return names.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!);
}

/** mulberry32: small, and the same on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
