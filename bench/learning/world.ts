import { hash } from 'node:crypto';
import { normalise } from '../../src/core/text/likeness.ts';
import { FACTS, oneOffHarm, POISON, SHARED_HARM } from './sentences.ts';

/**
 * A world of hidden facts. Each row needs some of them. A dev that lacks one fails, and may find it out for its next
 * attempt. A dev that succeeds recommends what it found out. Everything is decided by the seed, the row and the
 * attempt, so that an agent without memory can play it.
 */
export interface World {
  readonly seed: number;
  /** The share of successful rows that recommend a harmful rule of their own. */
  readonly oneOffHarm: number;
  /** The share of rows that recommend the same harmful rule. */
  readonly sharedHarm: number;
  /** The share of rows that recommend the poisoned sentence. */
  readonly poison: number;
  /** The share of rows that blame a lesson for nothing. */
  readonly wrongBlame: number;
  /** How often a dev credits a lesson that it needed. */
  readonly credit: number;
}

export const ROWS = 200;
export const MOST_ATTEMPTS = 3;
const NEEDED = 3;
/** A failed attempt finds out a missing fact. */
const FINDS = 0.6;
/** A harmful lesson makes an attempt fail. */
const STRIKES = 0.35;
/** A dev whose attempt failed by a harmful lesson blames it. */
const BLAMES = 0.7;
/** It does so by failing at the step of the lesson, not with a vote. */
const NAMES_STEP = 0.5;

interface Vote {
  /** The text of the lesson. */
  readonly lesson: string;
  readonly effect: 'helped' | 'harmed';
  readonly reason: string;
}

export interface Attempt {
  readonly success: boolean;
  /** The text of the lesson at whose step it failed. */
  readonly failedAt?: string;
  readonly recommendations: readonly string[];
  readonly votes: readonly Vote[];
}

const WORDINGS = new Map(FACTS.flatMap((wordings, fact) => wordings.map((text) => [normalise(text), fact])));
const HARMFUL = new Set(
  [...SHARED_HARM, POISON, ...Array.from({ length: ROWS }, (_, n) => oneOffHarm(n))].map(normalise),
);

/** One attempt at a row, with these lessons in the Steps. `row` and `attempt` count from 1. */
export function attempt(world: World, row: number, number: number, lessons: readonly string[]): Attempt {
  const chance = (...what: (string | number)[]) => roll(world.seed, row, ...what);
  const given = new Set(lessons.flatMap((text) => factOf(text) ?? []));
  const needed = neededBy(world, row);
  const missing = needed.filter((fact) => !given.has(fact));
  const found = missing.filter((fact) => range(number - 1).some((earlier) => chance('find', earlier, fact) < FINDS));
  const strikes = lessons.filter((text) => isHarmful(text) && chance('strike', number, text) < STRIKES);
  const success = found.length === missing.length && strikes.length === 0;
  const blamed = strikes.filter((text) => chance('blame', text) < BLAMES);
  const failedAt = blamed.find((text) => chance('names step', text) < NAMES_STEP);
  const voted = blamed.filter((text) => text !== failedAt);
  const helpful = success ? lessons.filter((text) => needed.includes(factOf(text) ?? -1)) : [];
  const wrong = lessons.filter((text) => !isHarmful(text))[Math.floor(chance('whom') * lessons.length)];
  const votes: Vote[] = [
    ...voted.map((lesson) => ({ lesson, effect: 'harmed' as const, reason: 'the card was wrong because of it' })),
    ...helpful
      .filter((text) => chance('credit', text) < world.credit)
      .map((lesson) => ({ lesson, effect: 'helped' as const, reason: '' })),
  ];
  if (wrong !== undefined && chance('wrong') < world.wrongBlame) {
    votes.push({ lesson: wrong, effect: 'harmed', reason: 'it seemed to mislead' });
  }
  return {
    ...{ success, votes, ...(failedAt === undefined ? {} : { failedAt }) },
    recommendations: success ? recommended(world, row, found) : [],
  };
}

function recommended(world: World, row: number, found: readonly number[]): string[] {
  const chance = (...what: (string | number)[]) => roll(world.seed, row, ...what);
  const oneOf = (texts: readonly string[]) => texts[Math.floor(chance('wording', texts[0]!) * texts.length)]!;
  return [
    ...found.map((fact) => oneOf(FACTS[fact]!)),
    ...(chance('one-off') < world.oneOffHarm ? [oneOffHarm(row - 1)] : []),
    ...(chance('shared') < world.sharedHarm ? [oneOf(SHARED_HARM)] : []),
    ...(chance('poison') < world.poison ? [POISON] : []),
  ];
}

function factOf(text: string): number | undefined {
  return WORDINGS.get(normalise(text));
}

function isHarmful(text: string): boolean {
  return HARMFUL.has(normalise(text));
}

function neededBy(world: World, row: number): number[] {
  const facts = FACTS.map((_, fact) => ({ fact, lot: roll(world.seed, row, 'need', fact) }));
  return facts
    .sort((a, b) => a.lot - b.lot)
    .slice(0, NEEDED)
    .map(({ fact }) => fact);
}

function range(end: number): number[] {
  return Array.from({ length: end }, (_, i) => i + 1);
}

/** From 0 to 1; the same for the same names. */
function roll(...names: (string | number)[]): number {
  return Number.parseInt(hash('sha256', JSON.stringify(names)).slice(0, 12), 16) / 2 ** 48;
}
