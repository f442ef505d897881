import { lognormal, randomFrom } from '../test/kit/random.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { mean } from './measure.ts';
import { type SimulatedItem, simulate } from './simulation.ts';

const MINUTE = 60_000;
const BOUND = 'max(work / cap, longest item)';
/** The more items, the less chance there is in one draw. */
const SEEDS = new Map([
  [200, 20],
  [2000, 5],
]);

/** The slots of a fleet of 50 machines. */
const FLEET = { count: 20_000, cap: 400, seeds: 1 };

/** How long a night takes, next to the shortest that any scheduler could make it. */
export async function makespan(): Promise<Section> {
  const figures: Figure[] = [];
  for (const count of SEEDS.keys()) {
    for (const cap of [8, 16]) {
      for (const percent of [0, 2, 10]) figures.push(...(await compare(count, cap, percent)));
    }
  }
  for (const percent of [0, 3, 10]) figures.push(await ofFleet(percent));
  return { title: 'Makespan (simulated clock)', figures };
}

async function ofFleet(percent: number): Promise<Figure> {
  const { count, cap, seeds } = FLEET;
  const ratios: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const items = drawItems(count, percent / 100, randomFrom(seed));
    const settings = { parallel: true, 'max-batch-size': cap, dispatch: 'stream' };
    ratios.push((await simulate(items, settings)) / shortest(items, cap));
  }
  return { what: whatOf(count, cap, percent), ours: 'stream', other: BOUND, ratio: mean(ratios), target: atMost(1.35) };
}

function whatOf(count: number, cap: number, percent: number): string {
  return `${count.toLocaleString('en')} items, cap ${cap}, ${percent} % fail`;
}

async function compare(count: number, cap: number, percent: number): Promise<Figure[]> {
  const batches: number[] = [];
  const stream: number[] = [];
  for (let seed = 1; seed <= SEEDS.get(count)!; seed++) {
    const items = drawItems(count, percent / 100, randomFrom(seed));
    const settings = { parallel: true, 'max-batch-size': cap };
    const best = shortest(items, cap);
    batches.push((await simulate(items, settings)) / best);
    stream.push((await simulate(items, { ...settings, dispatch: 'stream' })) / best);
  }
  const what = whatOf(count, cap, percent);
  const [ofBatches, ofStream] = [mean(batches), mean(stream)];
  const target = count === 2000 ? { 0: atMost(1.05), 10: atMost(1.12) }[percent] : undefined;
  return [
    { what, ours: 'batches', other: BOUND, ratio: ofBatches },
    { what, ours: 'stream', other: BOUND, ratio: ofStream, ...(target && { target }) },
    {
      what,
      ours: 'stream',
      other: 'batches',
      ratio: ofStream / ofBatches,
      ...(percent === 2 ? { target: atMost(0.5) } : {}),
    },
  ];
}

function drawItems(count: number, failing: number, random: () => number): SimulatedItem[] {
  return Array.from({ length: count }, () => ({
    devMs: lognormal(random, 3 * MINUTE, 0.8),
    qaMs: lognormal(random, MINUTE / 2, 0.8),
    fails: random() < failing,
  }));
}

function shortest(items: readonly SimulatedItem[], cap: number): number {
  const times = items.map(({ devMs, qaMs }) => devMs + qaMs);
  return Math.max(times.reduce((sum, each) => sum + each, 0) / cap, ...times);
}
