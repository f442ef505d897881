import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, Outcome } from '../../core/model/model.ts';
import { localOrder } from '../../core/model/order.ts';
import type { Shift } from '../../core/model/shift.ts';
import { readCarriedResult, relayPrefix } from '../../core/workspace/carried.ts';
import { requestOf } from '../../engine/worker/place.ts';
import { workingFolder } from '../../engine/worker/work.ts';
import type { CarriedRows } from '../../fleet/coordinator/carried-rows.ts';
import { failed, givenBack } from '../../fleet/coordinator/outcomes.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Arrival, AwayRows } from '../../workspace/away-rows.ts';
import { failureOf } from '../../workspace/failure.ts';
import { RelayFailure } from '../../workspace/relay.ts';

/** How long to retry: a finished result should survive an outage of the relay. */
const PATIENCE_MS = 30 * 60_000;
const LONGEST_PAUSE_MS = 30_000;
/** The end of a run does not wait longer for a relay. */
const END_MS = 60_000;

export interface FleetRowsMeans {
  readonly paths: ShiftPaths;
  /** The identity of the shift. */
  readonly key: string;
  away(): Promise<AwayRows>;
  secrets(): Shift['secrets'];
  warn(message: string): void;
}

/** The rows of a shift whose workspaces are on workers. */
export class FleetRows implements CarriedRows {
  readonly #means: FleetRowsMeans;
  readonly #prefix: string;
  readonly #removals = new Set<Promise<void>>();
  #isUsed = false;
  #isWarned = false;

  constructor(means: FleetRowsMeans) {
    this.#means = means;
    this.#prefix = relayPrefix(means.paths.name, means.key);
  }

  async carry(order: Order, signal: AbortSignal): Promise<{ order: Order } | { outcome: Outcome }> {
    const { away, paths, secrets } = this.#means;
    const local = localOrder(order, paths);
    const known = secrets();
    const request = requestOf(local, { workingDir: workingFolder(local, known), secrets: known, signal });
    this.#isUsed = true;
    const departed = await (await away()).depart(request, { prefix: this.#prefix, order: randomUUID() });
    switch (departed.kind) {
      case 'carried':
        return { order: { ...order, carried: departed.carried } };
      case 'failed':
        return { outcome: failed(order, departed.reason, departed.failurePoint) };
      case 'trouble':
        return { outcome: givenBack(order, departed.trouble) };
      case 'aborted':
        return { outcome: givenBack(order, { reason: 'stopped' }) };
    }
  }

  async accept(order: Order, outcome: Outcome, signal: AbortSignal): Promise<Outcome | undefined> {
    const { carried, item, task } = order;
    if (carried === undefined) return undefined;
    this.#isUsed = true;
    const away = await this.#means.away();
    if (outcome.trouble) away.doubt(carried);
    if (order.role !== 'dev' || outcome.to !== 'qa') return undefined;
    const result = readCarriedResult(outcome.carried);
    if (!result) return givenBack(order, { reason: 'its worker did not send its result', isWorker: true });
    const reason = await this.#arrive(away, { id: item.id, task, carried, result }, signal);
    return reason === undefined ? undefined : givenBack(order, { reason, isWorker: true });
  }

  /** Returns why the result can't be fetched; undefined if it was. */
  async #arrive(away: AwayRows, arrival: Arrival, signal: AbortSignal): Promise<string | undefined> {
    const since = performance.now();
    for (let pauseMs = 1000; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        await away.arrive(arrival, signal);
        this.#isWarned = false;
        return undefined;
      } catch (error) {
        const failure = failureOf(error, signal);
        if (failure.kind === 'aborted') return 'stopped';
        const reason = failure.kind === 'trouble' ? failure.trouble.reason : failure.reason;
        // A full disk, too: the relay keeps the result until there is room for it.
        const mayWait = failure.kind === 'trouble' || error instanceof RelayFailure;
        if (!mayWait || performance.now() - since > PATIENCE_MS) return reason;
        this.#warnOnce(`${reason}; retrying. Results stay on the remote`);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  removeRefs({ item, carried }: Order): void {
    if (carried === undefined) return;
    const removal = this.#tidy((away, signal) => away.removeRefs(item.id, signal)).finally(() =>
      this.#removals.delete(removal),
    );
    this.#removals.add(removal);
  }

  async end(isFinished: boolean): Promise<void> {
    await Promise.all(this.#removals);
    if (isFinished && this.#isUsed) await this.#tidy((away, signal) => away.sweep(this.#prefix, signal));
  }

  /** What stays on a relay costs room and nothing else: the next run removes it. */
  async #tidy(act: (away: AwayRows, signal: AbortSignal) => Promise<void>): Promise<void> {
    const signal = AbortSignal.timeout(END_MS);
    try {
      await act(await this.#means.away(), signal);
    } catch (error) {
      const failure = failureOf(error, signal);
      const late = 'the remote did not answer within a minute';
      const why =
        failure.kind === 'aborted' ? late : failure.kind === 'trouble' ? failure.trouble.reason : failure.reason;
      this.#warnOnce(`can't remove this shift's refs from the remote: ${why}`);
    }
  }

  #warnOnce(message: string): void {
    if (!this.#isWarned) this.#means.warn(message);
    this.#isWarned = true;
  }
}
