import type { LessonOrder, LessonOutcome } from '../core/model/lesson-order.ts';
import type { Order, Outcome } from '../core/model/model.ts';
import type { Shift } from '../core/model/shift.ts';
import type { DeliveryResult } from '../core/workspace/workspaces.ts';
import type { FilePatience } from './file-patience.ts';
import type { RunPorts } from './ports.ts';
import type { RowDelivery } from './worker/deliver.ts';
import type { Call } from './worker/worker-ports.ts';

type Secrets = Shift['secrets'];

interface Means {
  readonly worker: RunPorts['worker'];
  readonly files: FilePatience;
  /** Aborts when a limit on cost or tokens is used up. */
  readonly spent: AbortSignal;
}

/** What a run asks of its worker. `secrets`: those in force when the item was claimed. */
export class AtWork {
  readonly #ports: Pick<RunPorts, 'events' | 'control' | 'clock'>;
  readonly #means: Means;

  constructor(ports: Pick<RunPorts, 'events' | 'control' | 'clock'>, means: Means) {
    this.#ports = ports;
    this.#means = means;
  }

  carryOut(order: Order, secrets: Secrets, signal: AbortSignal): Promise<Outcome> {
    const { files, worker } = this.#means;
    return files.whileAtWork(() => worker(secrets).run(order, this.#call(signal)));
  }

  /** Delivers the result of a row. */
  deliver(row: RowDelivery, secrets: Secrets, signal: AbortSignal): Promise<DeliveryResult> {
    const { files, worker } = this.#means;
    return files.whileAtWork(() => worker(secrets).deliver(row, this.#call(signal)));
  }

  /** Asks the agent of a task to group recommendations. */
  async learn(order: LessonOrder, secrets: Secrets): Promise<LessonOutcome> {
    const { files, worker } = this.#means;
    const { clock, events, control } = this.#ports;
    const call = this.#call(control.interrupt);
    const since = clock.elapsed();
    events.emit({ type: 'fold:started', task: order.task, agent: order.settings.agent });
    try {
      return await files.whileAtWork(() => worker(secrets).learn(order, call));
    } finally {
      events.emit({ type: 'fold:finished', task: order.task, ms: Math.round(clock.elapsed() - since) });
    }
  }

  /** The item does not go back to its dev. */
  async drop(token: string, secrets: Secrets): Promise<void> {
    await this.#means.worker(secrets).drop(token);
  }

  #call(signal: AbortSignal): Call {
    const { events, control } = this.#ports;
    return { emit: events.emit, signal, drain: control.drain, spent: this.#means.spent };
  }
}
