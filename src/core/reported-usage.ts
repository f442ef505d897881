import type { Usage } from './model.ts';

/** Names that say by themselves that they are an amount of US dollars. */
const DOLLARS = ['cost_usd', 'costUsd', 'costUSD', 'total_cost_usd', 'totalCostUsd'];
/** Names that mean money only inside of a `usage`: elsewhere they may be the price of what the item is about. */
const COST = ['cost', 'total_cost', 'totalCost'];
const INPUT = ['input_tokens', 'inputTokens', 'prompt_tokens', 'promptTokens'];
/** Counted apart from the input by the programs that name them so. */
const CACHED = [
  'cache_read_input_tokens',
  'cacheReadInputTokens',
  'cache_creation_input_tokens',
  'cacheCreationInputTokens',
];
const OUTPUT = ['output_tokens', 'outputTokens', 'completion_tokens', 'completionTokens'];
const TOTAL = ['total_tokens', 'totalTokens'];
/** What an item is about, not what it cost. */
const DATA = ['captured_values', 'output'];

/** No single answer costs more than this: what says so is nonsense, and would end the night. */
const LARGEST_COST = 100_000;
const LARGEST_TOKENS = 1e12;

/** An amount that cannot be read. */
const UNREAD = Symbol('unread');
type Amount = number | typeof UNREAD | undefined;

interface Place {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly isUsage: boolean;
}

/**
 * What a program's own JSON says that it spent. Programs spell and place it in many ways, and some write numbers as text.
 * Of several sums the largest counts: the others are parts of it, or the same once more. A cost that can't be read is
 * counted as unknown. Undefined: it says nothing of the kind.
 */
export function reportedUsage(report: unknown): Usage | undefined {
  const places = placesIn(report);
  const costs = places.flatMap(({ fields, isUsage }) =>
    [...DOLLARS, ...(isUsage ? COST : [])].map((name) => amount(totalOf(fields[name]), LARGEST_COST)),
  );
  return usageOf(costs, largestTokens(places.map(({ fields }) => tokensIn(fields))));
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
    const { value, name } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value)) places.push({ fields: value as Place['fields'], isUsage: name === 'usage' });
    for (const [key, inner] of Object.entries(value)) {
      if (!DATA.includes(key)) queue.push({ value: inner, name: Array.isArray(value) ? name : key });
    }
  }
  return places;
}

/** Some programs split a cost up, and add its total. */
function totalOf(cost: unknown): unknown {
  return typeof cost === 'object' && cost !== null && 'total' in cost ? cost.total : cost;
}

function tokensIn(fields: Place['fields']): Tokens {
  const find = (names: readonly string[]) =>
    names.map((name) => amount(fields[name], LARGEST_TOKENS)).filter((each) => typeof each === 'number');
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

/** `0.3`, `$0.30`, `0.30 USD`, `1,200`, and `0,3` as half of Europe writes it. */
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
/** Longer than any of the two. */
const OVERLAP = 200;

/**
 * For output that holds no whole report: a program that was ended, or that broke off in the middle. Reads the last cost and
 * token counts that were printed, whatever stands around them, in bounded memory.
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
    const tokens = { input_tokens: this.#tokens.get('input'), output_tokens: this.#tokens.get('output') };
    return usageOf([amount(cost, LARGEST_COST)], tokensIn(tokens));
  }
}
