import { formatDuration, parseDuration } from '../model/duration.ts';
import type { Usage } from '../model/model.ts';
import { localTime } from '../text/local-time.ts';

/** Rule X6: what a shift may spend. Keys of the Shift Configuration; flags of the same names win. */
export const LIMIT_KEYS = [
  'max-cost',
  'max-tokens',
  'max-duration',
  'until',
  'max-failures',
  'max-same-failures',
] as const;
export type LimitKey = (typeof LIMIT_KEYS)[number];

/** The limits in force: US dollars, tokens, milliseconds, an ISO time, and counts. */
export interface Limits extends Readonly<Partial<Record<Exclude<LimitKey, 'until'>, number>>> {
  readonly until?: string;
}

/** The limits as set: `none` removes one, and `until` may be a time of day. */
export interface LimitSettings extends Readonly<Partial<Record<Exclude<LimitKey, 'until'>, number | 'none'>>> {
  readonly until?: string;
}

/** What all runs of the shift spent; `failures` are those of this run alone. */
export interface Expenses {
  readonly usage: Usage;
  readonly ms: number;
  readonly failures: number;
}

/** Cents don't add up exactly in binary: eight times 0.1 is a little less than 0.8. */
const LESS_THAN_ANY_COST = 1e-9;
/** The default for agents with a model: a task with wrong Steps or Validation would fail a whole table at a price. */
const SAME_FAILURES_WITH_MODEL = 3;
/** A table in which one item in five fails at one point is expected to have one such streak by chance. */
const CHANCE_OF_FAILURE = 1 / 5;

/** The limits that bound what a run costs, whatever its items do. */
const BOUNDS = ['max-cost', 'max-tokens', 'max-duration', 'until'] as const;

const NONE = 'none';
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/;
const DATE_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/;

interface Form {
  readonly parse: (text: string) => number | string | undefined;
  readonly is: string;
  readonly like: string;
}

const FORMS: Readonly<Record<LimitKey, Form>> = {
  'max-cost': { parse: parseDollars, is: 'an amount of money', like: '5 or 2.50 (US dollars)' },
  'max-tokens': { parse: parseTokens, is: 'a number of tokens', like: '2000000, 2M or 500k' },
  'max-duration': {
    parse: (text) => parseDuration(text, Number.MAX_SAFE_INTEGER),
    is: 'a time',
    like: '90s, 30m or 8h',
  },
  until: { parse: parseUntil, is: 'a time of day or a date with a time', like: '07:00 or 2026-01-31T07:00' },
  'max-failures': { parse: parseCount, is: 'a positive integer', like: '10' },
  'max-same-failures': { parse: parseCount, is: 'a positive integer', like: '3' },
};

/** Reads the limits that are set. `refuse` makes the error for an unreadable one: to ignore it would cost money. */
export function readLimits(
  textOf: (key: LimitKey) => string | undefined,
  refuse: (key: LimitKey, problem: string, hint: string) => Error,
): LimitSettings {
  const entries = LIMIT_KEYS.flatMap((key) => {
    const text = textOf(key)?.trim();
    if (text === undefined) return [];
    const { parse, is, like } = FORMS[key];
    const value = text === NONE ? NONE : parse(text);
    if (value === undefined) throw refuse(key, `is not ${is}`, `write it like ${like}; \`${NONE}\` is no limit`);
    return [[key, value]];
  });
  return Object.fromEntries(entries);
}

/** Whether you have decided on cost, tokens or time: with a limit, or with `none`. */
export function isBounded(set: LimitSettings): boolean {
  return BOUNDS.some((key) => set[key] !== undefined);
}

export function isLimitValue(key: LimitKey, text: string): boolean {
  return text === NONE || FORMS[key].parse(text) !== undefined;
}

function parseDollars(text: string): number | undefined {
  const dollars = positive(/^\$? ?(\d+(?:\.\d+)?)$/.exec(text)?.[1], 1);
  return dollars === undefined || dollars < LESS_THAN_ANY_COST ? undefined : dollars;
}

function parseTokens(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?) ?([kM]?)$/i.exec(text) ?? [];
  const tokens = positive(amount, { '': 1, k: 1000, m: 1_000_000 }[unit.toLowerCase()]!);
  return tokens && Math.max(1, Math.round(tokens));
}

function parseCount(text: string): number | undefined {
  return /^\d+$/.test(text) ? positive(text, 1) : undefined;
}

function positive(amount: string | undefined, unit: number): number | undefined {
  const value = Number(amount) * unit;
  return value > 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function parseUntil(text: string): string | undefined {
  if (CLOCK.test(text)) return text;
  return DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/** The limits of a run that starts now: a time of day is the next one from there. */
export function limitsInForce(set: LimitSettings, hasModel: boolean, now: number, rows = 0): Limits {
  const { until, ...amounts } = set;
  const numbers = Object.entries(amounts).filter(([, value]) => value !== NONE) as [LimitKey, number][];
  const same = sameFailures(set, hasModel, rows);
  return {
    ...Object.fromEntries(numbers),
    ...(until === undefined || until === NONE ? {} : { until: new Date(timeOf(until, now)).toISOString() }),
    ...(same === undefined ? {} : { 'max-same-failures': same }),
  };
}

/** How many items of a task in a row may fail at the same point; absent: any number. */
export function sameFailures(set: LimitSettings, hasModel: boolean, rows: number): number | undefined {
  const most = set['max-same-failures'] ?? (hasModel ? sameFailuresBy(rows) : NONE);
  return most === NONE ? undefined : most;
}

/** The more rows, the longer the streaks that chance alone makes. */
function sameFailuresBy(rows: number): number {
  const byChance = Math.ceil(Math.log(Math.max(1, rows)) / -Math.log(CHANCE_OF_FAILURE));
  return Math.max(SAME_FAILURES_WITH_MODEL, byChance);
}

/**
 * Whether an edit only lowers a limit. To set a missing one lowers it, to remove one does not, and an unreadable
 * value is not lower. `now`: when the run began.
 */
export function isLowerLimit(key: LimitKey, from: string | undefined, to: string | undefined, now: number): boolean {
  const read = (text: string | undefined): number | undefined => {
    if (text === undefined || text.trim() === NONE) return Number.POSITIVE_INFINITY;
    const value = FORMS[key].parse(text.trim());
    return typeof value === 'string' ? timeOf(value, now) : value;
  };
  const [was, is] = [read(from), read(to)];
  return was !== undefined && is !== undefined && is < was;
}

function timeOf(until: string, now: number): number {
  const [, hours, minutes] = CLOCK.exec(until) ?? [];
  if (hours === undefined) return Date.parse(until);
  const time = new Date(now);
  time.setHours(Number(hours), Number(minutes), 0, 0);
  if (time.getTime() <= now) time.setDate(time.getDate() + 1);
  return time.getTime();
}

/** A limit that is used up. `text`: by how much. `enough`: a value with which a run would continue. */
export interface ReachedLimit {
  readonly key: LimitKey;
  readonly text: string;
  readonly enough: string;
}

/** The first limit that is used up, if any. */
export function usedUp(limits: Limits, spent: Expenses, now: number): ReachedLimit | undefined {
  const cost = limits['max-cost'];
  const tokens = limits['max-tokens'];
  const ms = limits['max-duration'];
  const failures = limits['max-failures'];
  const used = tokensIn(spent.usage);
  const { costUsd = 0 } = spent.usage;
  if (cost !== undefined && costUsd + LESS_THAN_ANY_COST >= cost) {
    const text = `max-cost is used up: ${costText(limits, spent)}`;
    return { key: 'max-cost', text, enough: decimal(Number(above(costUsd, cost).toPrecision(2))) };
  }
  if (tokens !== undefined && used >= tokens) {
    const text = `max-tokens is used up: ${tokensText(limits, spent)}`;
    return { key: 'max-tokens', text, enough: shortTokens(above(used, tokens)) };
  }
  if (ms !== undefined && spent.ms >= ms) {
    const text = `max-duration is used up: ${durationText(limits, spent)}`;
    return {
      key: 'max-duration',
      text,
      enough: formatDuration(Math.max(1000, above(spent.ms, ms))).replaceAll(' ', ''),
    };
  }
  if (limits.until !== undefined && now >= Date.parse(limits.until)) {
    // A time of day means the next one.
    return {
      key: 'until',
      text: `until ${localTime(limits.until)} is over`,
      enough: localTime(limits.until).slice(-5),
    };
  }
  if (failures !== undefined && spent.failures >= failures) {
    const text = `max-failures is used up: ${spent.failures} failed in this run`;
    return { key: 'max-failures', text, enough: String(above(spent.failures, failures)) };
  }
  return undefined;
}

/** Those that are set and that what agents report counts for. */
export function moneyLimits(limits: Limits): ('max-cost' | 'max-tokens')[] {
  return (['max-cost', 'max-tokens'] as const).filter((key) => limits[key] !== undefined);
}

/** Rule X6: why no agent gets another prompt; undefined while money and tokens are left. */
export function moneyUsedUp({ 'max-cost': cost, 'max-tokens': tokens }: Limits, spent: Expenses): string | undefined {
  const ofMoney = { ...(cost && { 'max-cost': cost }), ...(tokens && { 'max-tokens': tokens }) };
  return usedUp(ofMoney, spent, 0)?.text;
}

/** The limits with this one set, as by a flag. */
export function setLimit(limits: LimitSettings, key: LimitKey, text: string): LimitSettings {
  return {
    ...limits,
    ...readLimits(
      (each) => (each === key ? text : undefined),
      (_, problem) => new Error(problem),
    ),
  };
}

/** A suggested limit is at least this many times what is spent. */
const ROOM = 1.25;

/** Doubles the limit until there is room above what is spent. */
function above(spent: number, limit: number): number {
  let more = 2 * limit;
  while (more < ROOM * spent) more *= 2;
  return more;
}

/** When the time is up, in milliseconds since 1970. */
export function timeIsOver(limits: Limits, spent: Expenses, now: number): number {
  const left = (limits['max-duration'] ?? Number.POSITIVE_INFINITY) - spent.ms;
  const until = limits.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(limits.until);
  return Math.min(now + left, until);
}

/** Each limit and what is spent of it, in words. With a model, also says if the cost has no limit. */
export function limitTexts(limits: Limits, spent: Expenses, hasModel: boolean, now: number): string[] {
  const { 'max-failures': failures, 'max-same-failures': same } = limits;
  const cost = limits['max-cost'] === undefined ? (hasModel ? ['no cost limit'] : []) : [costText(limits, spent)];
  return [
    ...cost,
    ...(limits['max-tokens'] === undefined ? [] : [tokensText(limits, spent)]),
    ...(limits['max-duration'] === undefined ? [] : [durationText(limits, spent)]),
    ...(limits.until === undefined ? [] : [`until ${localTime(limits.until, now)}`]),
    ...(failures === undefined ? [] : [`${spent.failures} of ${failures} failures in a run`]),
    ...(same === undefined ? [] : [`${same} failures in a row at one point pause a task`]),
  ];
}

function costText(limits: Limits, { usage }: Expenses): string {
  return `${dollars(usage.costUsd ?? 0)} of ${dollars(limits['max-cost']!)}`;
}

function tokensText(limits: Limits, { usage }: Expenses): string {
  return `${tokensIn(usage)} of ${shortTokens(limits['max-tokens']!)} tokens`;
}

function durationText(limits: Limits, { ms }: Expenses): string {
  return `${formatDuration(ms)} of ${formatDuration(limits['max-duration']!)}`;
}

export function tokensIn({ inputTokens = 0, outputTokens = 0 }: Usage): number {
  return inputTokens + outputTokens;
}

/** Amounts below a cent would look like nothing. */
export function dollars(amount: number): string {
  return `$${amount > 0 && amount < 0.01 ? decimal(Number(amount.toPrecision(2))) : amount.toFixed(2)}`;
}

/** Without an exponent, so that it can be read back as a limit. */
function decimal(amount: number): string {
  const text = String(amount);
  return text.includes('e') ? amount.toFixed(15).replace(/0+$/, '') : text;
}

function shortTokens(tokens: number): string {
  if (tokens >= 1_000_000 && tokens % 100_000 === 0) return `${tokens / 1_000_000}M`;
  return tokens % 1000 === 0 ? `${tokens / 1000}k` : String(tokens);
}
