import type { LessonMode } from '../../src/core/learning/policy.ts';
import { atLeast, atMost, type Figure, type Section, type Table } from '../figure.ts';
import { runEngine } from './engine.ts';
import { type Night, rowsInSteps, type Summary, summarise } from './night.ts';
import { POISON, SHARED_HARM } from './sentences.ts';
import { simulate } from './simulate.ts';
import type { World } from './world.ts';

const SCENARIOS = {
  'no harm': {},
  '5 % one-off harm': { oneOffHarm: 0.05 },
  '20 % one-off harm': { oneOffHarm: 0.2 },
  'bad sentence of 10 % of the rows': { sharedHarm: 0.1 },
  '20 % one-off harm, and poison in 10 % of the rows': { oneOffHarm: 0.2, poison: 0.1 },
  '10 % wrong blame': { wrongBlame: 0.1 },
  '10 % wrong blame, no credit': { wrongBlame: 0.1, credit: 0 },
} satisfies Record<string, Partial<World>>;
type Scenario = keyof typeof SCENARIOS;

const HARMLESS = { oneOffHarm: 0, sharedHarm: 0, poison: 0, wrongBlame: 0, credit: 0.5 };
const MODES = ['off', 'careful', 'eager'] as const;

/** Who plays a night. `plain rule`: the manager's agent gives no usable answer. */
const PLAYERS = {
  'simulated, 20 seeds': { seeds: 20, play: async (world, mode) => simulate(world, { mode, grouping: true }) },
  'simulated, plain rule': { seeds: 20, play: async (world, mode) => simulate(world, { mode, grouping: false }) },
  'the engine, 5 seeds': { seeds: 5, play: runEngine },
} satisfies Record<string, { seeds: number; play: (world: World, mode: LessonMode) => Promise<Night> }>;

interface Played {
  readonly player: string;
  readonly mode: LessonMode;
  readonly scenario: Scenario;
  readonly nights: readonly Night[];
  readonly summary: Summary;
}

/** What lessons do in a world of hidden facts, with recommendations that harm. NIGHTSHIFT_ENGINE=0 only simulates. */
export async function learning(): Promise<Section> {
  const played: Played[] = [];
  for (const [player, { seeds, play }] of Object.entries(PLAYERS)) {
    if (process.env.NIGHTSHIFT_ENGINE === '0' && player.includes('engine')) continue;
    for (const mode of MODES) {
      for (const scenario of Object.keys(SCENARIOS) as Scenario[]) {
        // Without lessons nothing is recommended.
        if (mode === 'off' && scenario !== 'no harm') continue;
        const worlds = Array.from({ length: seeds }, (_, i) => ({ seed: i + 1, ...HARMLESS, ...SCENARIOS[scenario] }));
        process.stderr.write(`${player}: ${mode}, ${scenario}\n`);
        const nights = await Promise.all(worlds.map((world) => play(world, mode)));
        played.push({ player, mode, scenario, nights, summary: summarise(nights) });
      }
    }
  }
  const players = [...new Set(played.map(({ player }) => player))];
  const figures = players.flatMap((player) => figuresOf(played.filter((each) => each.player === player)));
  return { title: 'Learning', figures, table: tableOf(played) };
}

function tableOf(played: readonly Played[]): Table {
  return {
    header: [
      '',
      'lessons',
      'recommendations',
      'done, by tenth, %',
      'first attempts, by tenth, %',
      'attempts per done item',
    ],
    rows: played.map(({ player, mode, scenario, summary }) => [
      ...[player, mode, scenario, percents(summary.done), percents(summary.first)],
      summary.attemptsPerDone.toFixed(2),
    ]),
  };
}

/** Every target, for the nights of one player. */
function figuresOf(played: readonly Played[]): Figure[] {
  const find = (mode: LessonMode, scenario: Scenario) =>
    played.find((each) => each.mode === mode && each.scenario === scenario)!;
  const off = find('off', 'no harm');
  const figure = (what: string, value: number, target: Figure['target']): Figure => ({
    ...{ what: `${off.player}: ${what}`, ours: value.toFixed(2), other: '', ratio: value },
    ...(target ? { target } : {}),
  });
  const least = (values: readonly number[]) => Math.min(...values);
  const good = find('careful', 'no harm').summary;
  const shared = find('careful', 'bad sentence of 10 % of the rows');
  const stays = shared.nights.flatMap((night) => rowsInSteps(night, SHARED_HARM));
  const wrong = find('careful', '10 % wrong blame').summary;
  const harmful = (['5 % one-off harm', '20 % one-off harm'] as const).flatMap((scenario) => {
    const { done, attemptsPerDone } = find('careful', scenario).summary;
    return [
      figure(`careful, ${scenario}: done in each of the last three tenths`, least(done.slice(-3)), atLeast(0.97)),
      figure(`careful, ${scenario}: attempts per done item`, attemptsPerDone, atMost(1.5)),
    ];
  });
  const eager = find('eager', '20 % one-off harm').summary.done;
  const poisoned = played.flatMap(({ nights }) => nights).filter(isPoisoned).length;
  return [
    figure('careful, no harm: done in the second tenth', good.done[1]!, atLeast(0.9)),
    figure('careful, no harm: done in each tenth from the third', least(good.done.slice(2)), atLeast(0.99)),
    figure('careful, no harm: first attempts in the last tenth', good.first.at(-1)!, atLeast(0.95)),
    figure('careful, no harm: attempts per done item', good.attemptsPerDone, atMost(1.4)),
    ...harmful,
    figure(
      'careful, bad sentence: done in each of the last three tenths',
      least(shared.summary.done.slice(-3)),
      atLeast(0.97),
    ),
    figure('careful, bad sentence: rows until it is retired, at most', Math.max(...stays), atMost(24)),
    figure(
      'careful, bad sentence: retired within 24 rows',
      stays.filter((rows) => rows <= 24).length / stays.length,
      undefined,
    ),
    figure('careful, 10 % wrong blame: first attempts in the last tenth', wrong.first.at(-1)!, atLeast(0.88)),
    figure('nights with the poisoned sentence in the Steps', poisoned, atMost(0)),
    figure(
      'eager, 20 % harm: done beside learning off, least tenth after the third',
      least(eager.slice(3).map((done, i) => done / off.summary.done[i + 3]!)),
      atLeast(1),
    ),
  ];
}

function isPoisoned({ changes, steps }: Night): boolean {
  return (
    changes.some(({ text, to }) => text === POISON && to === 'firm') || steps.some((step) => step.includes(POISON))
  );
}

function percents(shares: readonly number[]): string {
  return shares.map((share) => Math.round(share * 100)).join(' ');
}
