import { tmpdir } from 'node:os';
import type { Emit } from '../core/events.ts';
import { createMask, type Mask } from '../core/mask.ts';
import type { Order, Outcome } from '../core/model.ts';
import { performDev } from './dev.ts';
import type { Agents, Checks } from './parts.ts';
import { performQa } from './qa.ts';
import { Scratch } from './scratch.ts';
import { workingFolder } from './work.ts';

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
  const mask = createMask(agents.secrets);
  const limit = AbortSignal.timeout(Math.max(0, order.deadline - Date.now()));
  const taken = takeScratch();
  if (taken instanceof Error) return givenBack(order, `no folder can be made in ${tmpdir()} (${taken.code})`);
  await using scratch = taken;
  const carryOut = order.role === 'dev' ? performDev : performQa;
  const outcome = await carryOut({
    order,
    agents,
    checks,
    mask,
    limit,
    scratch,
    emit: (happening) => emit(masked(mask, happening)),
    transcript: emit,
    signal: AbortSignal.any([signal, limit]),
    folder: workingFolder(order, agents),
  });
  return masked(mask, outcome);
}

function takeScratch(): Scratch | NodeJS.ErrnoException {
  try {
    return Scratch.take();
  } catch (cause) {
    return cause as NodeJS.ErrnoException;
  }
}

/** What agents and checks said. Names of tasks, keys and statuses stay: masked, they would not be found again. */
const SAID = ['reason', 'verdicts', 'captured', 'recommendations', 'outputs'];

function masked<T extends object>(mask: Mask, json: T): T {
  const entries = Object.entries(json).map(([name, value]) => [name, SAID.includes(name) ? mask.deep(value) : value]);
  return Object.fromEntries(entries) as T;
}

/** Not the item's fault (rule X5), and nothing was begun. */
function givenBack({ role, item, token }: Order, reason: string): Outcome {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  return { role, id: item.id, token, attempts: 0, reason, ...nothing };
}
