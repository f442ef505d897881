import type { Order, Outcome, Trouble } from '../../core/model/model.ts';
import { LARGEST_MESSAGE, type Report } from '../protocol.ts';

/**
 * An item may be what ends its worker, for example by using up the memory. Each item that a lost worker had gets the same
 * share of one loss: alone on its worker, an item fails after 3 losses, one of 8 after 24. So an item that only
 * ran beside others, on workers that were lost for other reasons, does not fail.
 */
const MOST_BLAME = 3;

interface Loss {
  readonly times: number;
  readonly blame: number;
}

/** How often the worker of each item-task was lost. */
export class Losses {
  readonly #losses = new Map<string, Loss>();

  /** `together`: how many orders were lost with that worker. Returns the number of losses if that is too often. */
  add({ task, item }: Pick<Order, 'task' | 'item'>, together: number): number | undefined {
    const cell = JSON.stringify([task, item.id]);
    const before = this.#losses.get(cell) ?? { times: 0, blame: 0 };
    const { times, blame } = { times: before.times + 1, blame: before.blame + 1 / together };
    this.#losses.set(cell, { times, blame });
    // Thirds do not add up to one.
    return blame > MOST_BLAME - 0.001 ? times : undefined;
  }
}

/** Not the item's fault (rule X5). */
export function givenBack({ role, item, token, retry }: Order, trouble: Trouble): Outcome {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  return { role, id: item.id, token, attempts: retry?.attempts ?? 0, reason: trouble.reason, trouble, ...nothing };
}

export function failedByLosses(order: Order, reason: string, times: number): Outcome {
  return failed(order, `${reason} (${times} times): this item may be the cause`, 'worker');
}

export function tooLarge(order: Order): Outcome {
  const reason = `its order is larger than ${LARGEST_MESSAGE / 1024 / 1024} MiB, the maximum in a fleet`;
  return failed(order, reason, 'order');
}

export function failed(order: Order, reason: string, failurePoint: string): Outcome {
  const { trouble: _, ...nothing } = givenBack(order, { reason });
  return { ...nothing, to: 'failed', failurePoint };
}

/**
 * The outcome of an order as the run takes it. Trouble of one of several workers does not slow down the others, and
 * never ends the run: that worker takes no such orders until it is over. A usage limit counts for all.
 */
export function outcomeOf({ item, token }: Order, { outcome, worker }: Report, workers: number): Outcome {
  const known = { ...(outcome as Outcome), id: item.id, token };
  const { trouble } = known;
  if (!trouble || trouble.until !== undefined || trouble.isRequested || trouble.isLimit) return known;
  if (trouble.remedy === undefined && workers <= 1 && !trouble.isWorker) return known;
  const { remedy, ...rest } = trouble;
  const reason = `${worker}: ${rest.reason}${remedy === undefined ? '' : ` (${remedy})`}`;
  return { ...known, reason, trouble: { ...rest, reason, isWorker: true } };
}
