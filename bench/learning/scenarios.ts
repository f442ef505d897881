import type { World } from './world.ts';

const HARMLESS = { oneOffHarm: 0, sharedHarm: 0, poison: 0, wrongBlame: 0, credit: 0.5 };

/** What rows recommend and blame, by the name that selects it on the command line. */
export const SCENARIOS = {
  good: { what: 'all good', world: {} },
  'harm-5': { what: '5 % of the rows add a harmful one of their own', world: { oneOffHarm: 0.05 } },
  'harm-20': { what: '20 % of the rows add a harmful one of their own', world: { oneOffHarm: 0.2 } },
  shared: { what: '10 % of the rows share a harmful one', world: { sharedHarm: 0.1 } },
  poison: {
    what: '20 % of the rows add a harmful one, 10 % the poisoned sentence',
    world: { oneOffHarm: 0.2, poison: 0.1 },
  },
  'wrong-blame': { what: 'all good; 10 % of the rows blame a good lesson', world: { wrongBlame: 0.1 } },
  'no-credit': { what: 'the same, and no row credits any', world: { wrongBlame: 0.1, credit: 0 } },
} satisfies Record<string, { what: string; world: Partial<World> }>;

export type Scenario = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as Scenario[];

export function worldsOf(scenario: Scenario, seeds: number): World[] {
  return Array.from({ length: seeds }, (_, i) => ({ seed: i + 1, ...HARMLESS, ...SCENARIOS[scenario].world }));
}
