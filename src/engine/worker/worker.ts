import { tmpdir } from 'node:os';
import type { Emit } from '../../core/model/events.ts';
import type { Order, Outcome } from '../../core/model/model.ts';
import { systemError } from '../../core/model/system-errors.ts';
import { createMask, type Mask } from '../../core/text/mask.ts';
import { performDev } from './dev.ts';
import { performQa } from './qa.ts';
import { takeScratch } from './scratch.ts';
import { type Work, workingFolder } from './work.ts';
import type { Agents, Checks } from './worker-ports.ts';
import { Workplace } from './workplace.ts';

/**
 * Carries out one order and says what became of it. It sees neither the store, nor the table, nor other items, so that
 * a worker on another machine can run it unchanged. It does not throw for anything that an agent or a check does.
 */
export async function perform(
  order: Order,
  agents: Agents,
  checks: Checks,
  emit: Emit,
  signal: AbortSignal,
): Promise<Outcome> {
  const carryOut = order.role === 'dev' ? performDev : performQa;
  try {
    const outcome = await withWork(order, agents, checks, emit, signal, carryOut);
    return typeof outcome === 'string' ? givenBack(order, outcome) : outcome;
  } catch (error) {
    // No descriptors, no memory, a full disk where temporary files are: another item would have met it, too.
    const refused = systemError(error);
    if (!refused) throw error;
    return givenBack(order, refused.message);
  }
}

/** Gives an order its private folder, its time and its mask for as long as somebody works on it; or says why it can't. */
export async function withWork<T extends object>(
  order: Order,
  agents: Agents,
  checks: Checks,
  emit: Emit,
  signal: AbortSignal,
  use: (work: Work) => Promise<T>,
): Promise<T | string> {
  const mask = createMask(agents.secrets);
  const kept = order.role === 'dev' ? agents.kept : undefined;
  const place = kept?.take(order.token) ?? newPlace();
  if (typeof place === 'string') return place;
  let isKept = false;
  try {
    using timeout = checks.clock.timeout(order.settings.timeoutMs - (order.retry?.ms ?? 0));
    using _held = place.hold(signal, timeout.signal);
    const result = await use({
      order,
      agents,
      checks,
      mask,
      limit: place.limit,
      scratch: place.scratch,
      signal: place.signal,
      place,
      keep: () => {
        isKept = kept !== undefined && !place.signal.aborted;
      },
      emit: (happening) => emit(masked(mask, happening)),
      transcript: emit,
      folder: workingFolder(order, agents),
    });
    return masked(mask, result);
  } finally {
    if (isKept) kept?.keep(order.token, place);
    else await place[Symbol.asyncDispose]();
  }
}

function newPlace(): Workplace | string {
  const taken = takeScratch();
  return taken instanceof Error ? `no folder can be made in ${tmpdir()} (${taken.code})` : new Workplace(taken);
}

/** What agents and checks said. Names of tasks, keys and statuses stay: masked, they would not be found again. */
const SAID = ['reason', 'trouble', 'verdicts', 'captured', 'recommendations', 'outputs', 'changed'];

function masked<T extends object>(mask: Mask, json: T): T {
  const entries = Object.entries(json).map(([name, value]) => [name, SAID.includes(name) ? mask.deep(value) : value]);
  return Object.fromEntries(entries) as T;
}

/** Not the item's fault (rule X5), and nothing was begun. */
function givenBack({ role, item, token }: Order, reason: string): Outcome {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  return { role, id: item.id, token, attempts: 0, reason, trouble: { reason }, ...nothing };
}
