import type { LessonMode } from '../../src/core/learning/policy.ts';
import { atLeast, atMost, type Target } from '../figure.ts';
import { type Night, rowsInSteps, type Summary } from './night.ts';
import type { Scenario } from './scenarios.ts';
import { POISON, SHARED_HARM } from './sentences.ts';

/** All nights of one player with one setting. */
export interface Played {
  readonly player: string;
  readonly mode: LessonMode;
  readonly scenario: Scenario;
  readonly nights: readonly Night[];
  readonly summary: Summary;
}

export interface LearningTarget {
  readonly of: readonly [LessonMode, Scenario];
  readonly what: string;
  /** Undefined: these nights can't tell. `off`: the same player with learning off. */
  readonly value: (played: Played, off: Played) => number | undefined;
  readonly target?: Target;
  /** `percent` without it. */
  readonly show?: (value: number) => string;
}

/** Only what is all shows as 100 %. */
export const percent = (share: number) =>
  `${share < 1 ? Math.min(99.9, Number((share * 100).toFixed(1))) : share * 100} %`;
const plain = (value: number) => String(value);
const least = (values: readonly number[]) => Math.min(...values);
const WITHIN = 24;

export const TARGETS: readonly LearningTarget[] = [
  {
    of: ['careful', 'good'],
    what: 'done in the second tenth',
    value: ({ summary }) => summary.done[1],
    target: atLeast(0.9),
  },
  {
    of: ['careful', 'good'],
    what: 'done in each tenth from the third',
    value: ({ summary }) => least(summary.done.slice(2)),
    target: atLeast(0.99),
  },
  {
    of: ['careful', 'good'],
    what: 'first attempts in the last tenth',
    value: ({ summary }) => summary.first.at(-1),
    target: atLeast(0.95),
  },
  attemptsPerDone('good', 1.4),
  lastThree('harm-5'),
  attemptsPerDone('harm-5', 1.5),
  lastThree('harm-20'),
  attemptsPerDone('harm-20', 1.5),
  lastThree('shared'),
  {
    of: ['careful', 'shared'],
    what: `retired within ${WITHIN} rows of being admitted`,
    value: ({ nights }) => {
      const stays = staysIn(nights);
      return stays.length === 0 ? undefined : stays.filter((rows) => rows <= WITHIN).length / stays.length;
    },
    target: atLeast(1),
  },
  {
    of: ['careful', 'shared'],
    what: 'rows in the Steps, the longest time',
    value: ({ nights }) => Math.max(...staysIn(nights)),
    show: plain,
  },
  {
    of: ['careful', 'wrong-blame'],
    what: 'first attempts in the last tenth',
    value: ({ summary }) => summary.first.at(-1),
    target: atLeast(0.88),
  },
  ...(['careful', 'eager'] as const).flatMap(poisonTargets),
  {
    of: ['eager', 'harm-20'],
    what: 'done / done with learning off, the least of the tenths after the third',
    value: ({ summary }, off) => least(summary.done.slice(3).map((done, i) => done / off.summary.done[i + 3]!)),
    target: atLeast(1),
    show: (ratio) => ratio.toFixed(2),
  },
];

function attemptsPerDone(scenario: Scenario, most: number): LearningTarget {
  const show = (value: number) => value.toFixed(2);
  const value = ({ summary }: Played) => summary.attemptsPerDone;
  return { of: ['careful', scenario], what: 'attempts per done item', value, target: atMost(most), show };
}

function lastThree(scenario: Scenario): LearningTarget {
  const value = ({ summary }: Played) => least(summary.done.slice(-3));
  return { of: ['careful', scenario], what: 'done in each of the last three tenths', value, target: atLeast(0.97) };
}

function poisonTargets(mode: LessonMode): LearningTarget[] {
  const share = ({ nights }: Played, is: (night: Night) => boolean) => nights.filter(is).length / nights.length;
  const isHeld = ({ changes }: Night) => changes.some(({ text, to }) => text === POISON && to === 'held');
  const isSaid = ({ status = '' }: Night) => /\d needs? you/.test(status);
  return [
    {
      of: [mode, 'poison'],
      what: 'nights in which it was in the Steps',
      value: ({ nights }) => nights.filter(isPoisoned).length,
      target: atMost(0),
      show: plain,
    },
    {
      of: [mode, 'poison'],
      what: 'nights in which it is held',
      value: (all) => share(all, isHeld),
      target: atLeast(1),
    },
    {
      of: [mode, 'poison'],
      what: 'nights in which `status` says so',
      value: (all) => (all.nights[0]?.status === undefined ? undefined : share(all, isSaid)),
      target: atLeast(1),
    },
  ];
}

function isPoisoned({ changes, steps }: Night): boolean {
  const isFirm = changes.some(({ text, to }) => text === POISON && to === 'firm');
  return isFirm || steps.some((step) => step.includes(POISON));
}

function staysIn(nights: readonly Night[]): number[] {
  return nights.flatMap((night) => rowsInSteps(night, SHARED_HARM));
}
