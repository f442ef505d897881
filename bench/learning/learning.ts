import { availableParallelism } from 'node:os';
import type { LessonMode } from '../../src/core/learning/policy.ts';
import type { Figure, Section, Table } from '../figure.ts';
import { runEngine } from './engine.ts';
import { type Night, summarise } from './night.ts';
import { SCENARIOS, type Scenario, worldsOf } from './scenarios.ts';
import { simulate } from './simulate.ts';
import { differingRows, targetTable } from './target-table.ts';
import type { Played } from './targets.ts';
import type { World } from './world.ts';

const MODES = ['off', 'careful', 'eager'] as const;

/** Who plays nights, and how many at the same time. `plain rule`: simulated, without an answer of the manager's agent. */
interface Player {
  readonly name: string;
  readonly seeds: number;
  readonly atOnce: number;
  readonly play: (world: World, mode: LessonMode) => Promise<Night>;
}

/**
 * What lessons do in a world of hidden facts, with recommendations that harm, next to a night without lessons.
 * NIGHTSHIFT_SEEDS=N plays N seeds of each scenario with the engine instead of 5; with 0 it only simulates.
 */
export async function learning(scenarios: readonly Scenario[]): Promise<Section> {
  const played: Played[] = [];
  for (const player of players()) {
    for (const mode of MODES) {
      // Without lessons nothing is recommended.
      for (const scenario of mode === 'off' ? (['good'] as const) : scenarios) {
        const worlds = worldsOf(scenario, player.seeds);
        const nights = await inTurn(worlds, player.atOnce, (world) => player.play(world, mode));
        const summary = summarise(nights);
        played.push({ player: player.name, mode, scenario, nights, summary });
        process.stderr.write(`${player.name}, ${mode}, ${scenario}: ${percents(summary.done)} % done\n`);
      }
    }
  }
  return { title: 'Learning', figures: figuresOf(played), tables: [targetTable(played), nightTable(played)] };
}

function figuresOf(played: readonly Played[]): Figure[] {
  const names = [...new Set(played.map(({ player }) => player))];
  const [simulated, , engine] = names.map((name) => played.filter(({ player }) => player === name));
  return engine ? [differingRows(engine, simulated!)] : [];
}

function players(): Player[] {
  const seeds = Number(process.env.NIGHTSHIFT_SEEDS ?? 5);
  const most = Math.max(20, seeds);
  const simulated = (name: string, grouping: boolean): Player => ({
    ...{ name: `${name}, ${most} seeds`, seeds: most, atOnce: 1 },
    play: async (world, mode) => simulate(world, { mode, grouping }),
  });
  const engine = { name: `engine, ${seeds} seeds`, seeds, atOnce: availableParallelism() + 1, play: runEngine };
  return [simulated('simulated', true), simulated('plain rule', false), ...(seeds > 0 ? [engine] : [])];
}

/** The results in the order of `inputs`, with up to `atOnce` of them under way. */
async function inTurn<In, Out>(
  inputs: readonly In[],
  atOnce: number,
  work: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = [];
  const queue = [...inputs.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

function nightTable(played: readonly Played[]): Table {
  return {
    header: ['', 'lessons', 'recommendations', 'done, by tenth, %', 'first attempts, by tenth, %', 'attempts per done'],
    rows: played.map(({ player, mode, scenario, summary }) => [
      ...[player, mode, mode === 'off' ? '' : SCENARIOS[scenario].what],
      ...[percents(summary.done), percents(summary.first), summary.attemptsPerDone.toFixed(2)],
    ]),
  };
}

function percents(shares: readonly number[]): string {
  return shares.map((share) => Math.round(share * 100)).join(' ');
}
