import { tmpdir } from 'node:os';
import type { LessonOrder, LessonOutcome } from '../../core/model/lesson-order.ts';
import { masked } from '../../core/model/masked.ts';
import type { LocalOrder, Order, Outcome } from '../../core/model/model.ts';
import { localOrder } from '../../core/model/order.ts';
import { systemError } from '../../core/model/system-errors.ts';
import type { DeliveryResult } from '../../core/workspace/workspaces.ts';
import { performDelivery, type RowDelivery } from './deliver.ts';
import { performDev } from './dev.ts';
import { performLesson } from './lesson.ts';
import { performQa } from './qa.ts';
import { type ScratchPlace, takeScratch } from './scratch.ts';
import { type Work, workingFolder } from './work.ts';
import { type Call, type EquippedSite, maskOf, type Worker } from './worker-ports.ts';
import { Workplace } from './workplace.ts';

/**
 * Carries out orders on this machine. Everything it knows about the run is in the order and the call, so the same
 * program could run on another machine.
 */
export class LocalWorker implements Worker {
  readonly #site: EquippedSite;

  constructor(site: EquippedSite) {
    this.#site = site;
  }

  async run(order: Order, call: Call): Promise<Outcome> {
    try {
      const perform = order.role === 'dev' ? performDev : performQa;
      const outcome = await withWork(this.#site, localOrder(order, this.#site.place), call, perform);
      return typeof outcome === 'string' ? givenBack(order, outcome) : outcome;
    } catch (error) {
      // No descriptors, no memory, a full disk for temporary files: every item would meet this.
      const refused = systemError(error);
      if (!refused) throw error;
      return givenBack(order, refused.message);
    }
  }

  async deliver(row: RowDelivery, call: Call): Promise<DeliveryResult> {
    try {
      const order = localOrder(row.last, this.#site.place);
      const result = await withWork(this.#site, order, call, (work) => performDelivery(work, row));
      return typeof result === 'string' ? { kind: 'trouble', trouble: { reason: result } } : result;
    } catch (error) {
      const refused = systemError(error);
      if (!refused) throw error;
      return { kind: 'trouble', trouble: { reason: refused.message } };
    }
  }

  async learn(order: LessonOrder, call: Call): Promise<LessonOutcome> {
    try {
      return await performLesson(this.#site, order, call);
    } catch (error) {
      const refused = systemError(error);
      if (!refused) throw error;
      return { role: order.role, reason: refused.message };
    }
  }

  async drop(token: string): Promise<void> {
    await this.#site.kept?.drop(token);
  }
}

/** Gives an order its private folder, its timeout and its mask; or says why it can't. */
export async function withWork<T extends object>(
  site: EquippedSite,
  order: LocalOrder,
  call: Call,
  use: (work: Work) => Promise<T>,
): Promise<T | string> {
  const mask = maskOf(site);
  const kept = order.role === 'dev' ? site.kept : undefined;
  const workplace = kept?.take(order.token) ?? newWorkplace(site.scratch);
  if (typeof workplace === 'string') return workplace;
  let isKept = false;
  try {
    using timeout = site.clock.timeout(order.settings.timeoutMs - (order.retry?.ms ?? 0));
    using _held = workplace.hold(call.signal, timeout.signal);
    const result = await use({
      order,
      site,
      call,
      mask,
      timeout: workplace.timeout,
      scratch: workplace.scratch,
      signal: workplace.signal,
      workplace,
      keep: () => {
        isKept = kept !== undefined && !workplace.signal.aborted;
      },
      emit: (happening) => call.emit(masked(mask, happening)),
      folder: order.settings.isFolderless ? workplace.scratch.emptyFolder() : workingFolder(order, site.secrets),
    });
    return masked(mask, result);
  } finally {
    if (isKept) kept?.keep(order.token, workplace);
    else await workplace[Symbol.asyncDispose]();
  }
}

function newWorkplace(place: ScratchPlace | undefined): Workplace | string {
  const taken = takeScratch(place);
  if (!(taken instanceof Error)) return new Workplace(taken);
  return `no folder can be made in ${place?.folder ?? tmpdir()} (${taken.code})`;
}

/** Not the item's fault (rule X5), and nothing has started. */
function givenBack({ role, item, token }: Order, reason: string): Outcome {
  const nothing = { verdicts: [], outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  return { role, id: item.id, token, attempts: 0, reason, trouble: { reason }, ...nothing };
}
