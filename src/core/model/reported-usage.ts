import type { Usage } from './model.ts';
import { addAmounts } from './usage.ts';

/** As `plainName` spells them. These names say that the amount is in US dollars. */
const DOLLARS = ['costusd', 'totalcostusd'];
/** Names that mean money only inside a `usage`; elsewhere they may be a price in the item's data. */
const COST = ['cost', 'totalcost'];
/** Another amount of money: cents, another currency, a custom name. */
const LIKE_COST = /cost|price|spen[dt]|usd|dollar|cents/;
const INPUT = ['inputtokens', 'prompttokens'];
/** Programs that use these names count them separately from the input. */
const CACHED = ['cachereadinputtokens', 'cachecreationinputtokens'];
const OUTPUT = ['outputtokens', 'completiontokens'];
const TOTAL = ['totaltokens'];
const USAGE = 'usage';
/** Data of the item, not its cost. */
const DATA = ['captured_values', 'output'];

/** No single answer costs more; a higher number is nonsense, and would end the night. */
const LARGEST_COST = 100_000;
const LARGEST_TOKENS = 1e12;

/** An amount that cannot be read. */
const UNREAD = Symbol('unread');
type Amount = number | typeof UNREAD | undefined;

interface Place {
  /** By plain names. */
  readonly fields: ReadonlyMap<string, unknown>;
  readonly isUsage: boolean;
}

/** `cost_usd`, `costUsd`, `Cost-USD` and `COST_USD` are the same. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/**
 * What a program's JSON says that it spent. Programs spell and place it in many ways, and some write numbers as text.
 * The largest of several sums counts, because the others are parts or repetitions of it. A list of usages is added
 * up. A cost that can't be read counts as unknown. Undefined if nothing is reported.
 */
export function reportedUsage(report: unknown): Usage | undefined {
  const places = placesIn(report);
  return usageOf(places.flatMap(costsIn), largestTokens(places.map(({ fields }) => tokensIn(fields))));
}

function costsIn({ fields, isUsage }: Place): Amount[] {
  const names = [...DOLLARS, ...(isUsage ? COST : [])];
  const costs = names.map((name) => amount(totalOf(fields.get(name)), LARGEST_COST));
  const others = isUsage
    ? [...fields].filter(([name, value]) => !names.includes(name) && isOtherCost(name, value))
    : [];
  return others.length > 0 ? [...costs, UNREAD] : costs;
}

function isOtherCost(name: string, value: unknown): boolean {
  return LIKE_COST.test(name) && typeof value !== 'object' && /[1-9]/.test(String(value));
}

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens'>;

function usageOf(costs: readonly Amount[], tokens: Tokens): Usage | undefined {
  const known = costs.filter((cost) => typeof cost === 'number');
  const isUnread = known.length === 0 && costs.includes(UNREAD);
  const usage: Usage = {
    ...tokens,
    ...(known.length > 0 ? { costUsd: known.reduce((most, cost) => Math.max(most, cost)) } : {}),
    ...(isUnread ? { unreadCosts: 1 } : {}),
  };
  return Object.keys(usage).length > 0 ? usage : undefined;
}

function placesIn(report: unknown): Place[] {
  const places: Place[] = [];
  const queue: { value: unknown; name: string }[] = [{ value: report, name: '' }];
  for (let next = queue.pop(); next; next = queue.pop()) {
    const { name } = next;
    const isUsage = plainName(name) === USAGE;
    const value = isUsage ? parsed(next.value) : next.value;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) places.push({ fields: fieldsOf(value), isUsage });
    else if (isUsage) places.push(sumOf(value));
    for (const [key, inner] of Object.entries(value)) {
      if (!DATA.includes(key)) queue.push({ value: inner, name: Array.isArray(value) ? name : key });
    }
  }
  return places;
}

/** The first of several spellings counts. */
function fieldsOf(value: object): Map<string, unknown> {
  return new Map(
    Object.entries(value)
      .map(([name, inner]) => [plainName(name), inner] as const)
      .reverse(),
  );
}

/** JSON in JSON. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** A list has one for each request of the program. */
function sumOf(list: readonly unknown[]): Place {
  const all = list.map((each) => reportedUsage({ [USAGE]: each }) ?? {}).reduce(addAmounts, {});
  const { costUsd, inputTokens, outputTokens } = all;
  return { fields: fieldsOf({ costUsd, inputTokens, outputTokens }), isUsage: true };
}

/** Some programs itemise a cost, and add its total. */
function totalOf(cost: unknown): unknown {
  return typeof cost === 'object' && cost !== null && 'total' in cost ? cost.total : cost;
}

function tokensIn(fields: Place['fields']): Tokens {
  const find = (names: readonly string[]) =>
    names.map((name) => amount(fields.get(name), LARGEST_TOKENS)).filter((each) => typeof each === 'number');
  const [input] = find(INPUT);
  const [output] = find(OUTPUT);
  const [total] = find(TOTAL);
  if (input === undefined && output === undefined) return total === undefined ? {} : { inputTokens: total };
  const cached = find(CACHED).reduce((sum, each) => sum + each, 0);
  return {
    ...(input === undefined ? {} : { inputTokens: input + cached }),
    ...(output === undefined ? {} : { outputTokens: output }),
  };
}

function largestTokens(all: readonly Tokens[]): Tokens {
  const sum = ({ inputTokens = 0, outputTokens = 0 }: Tokens) => inputTokens + outputTokens;
  return all.reduce((most, each) => (Object.keys(most).length === 0 || sum(each) > sum(most) ? each : most), {});
}

/** `0.3`, `$0.30`, `0.30 USD`, `1,200`, and `0,3` with a decimal comma. */
function amount(value: unknown, largest: number): Amount {
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' ? numberIn(value) : value;
  return typeof number === 'number' && number >= 0 && number <= largest ? number : UNREAD;
}

function numberIn(text: string): number | undefined {
  const bare = text.trim().replace(/^(?:US)?\$ ?|^USD ?| ?(?:US)?\$$| ?USD$/gi, '');
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare)) return Number(bare.replaceAll(',', ''));
  if (/^\d+,\d+$/.test(bare)) return Number(bare.replace(',', '.'));
  return /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare) ? Number(bare) : undefined;
}

const SAID_COST = /"(?:total_?)?cost_?usd"\s*:\s*("[^"\n]{0,40}"|[^\s,}\]]{1,40})/gi;
const SAID_TOKENS = /"(input|output)_?tokens"\s*:\s*"?(\d{1,15})/gi;
/** Longer than either of the two. */
const OVERLAP = 200;

/**
 * For output without a complete report, because the program was ended or crashed. Finds the last cost and token
 * counts that were printed, in bounded memory.
 */
export class PrintedUsage {
  #tail = '';
  #cost: string | undefined;
  readonly #tokens = new Map<string, string>();

  add(text: string): void {
    const all = this.#tail + text;
    for (const [, said] of all.matchAll(SAID_COST)) this.#cost = said;
    for (const [, name, said] of all.matchAll(SAID_TOKENS)) this.#tokens.set(name!.toLowerCase(), said!);
    this.#tail = all.slice(-OVERLAP);
  }

  get usage(): Usage | undefined {
    const cost = this.#cost === 'null' ? undefined : this.#cost?.replaceAll('"', '');
    const tokens = { inputTokens: this.#tokens.get('input'), outputTokens: this.#tokens.get('output') };
    return usageOf([amount(cost, LARGEST_COST)], tokensIn(fieldsOf(tokens)));
  }
}
