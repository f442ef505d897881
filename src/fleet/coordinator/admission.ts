import type { Emit } from '../../core/model/events.ts';
import type { Task } from '../../core/model/shift.ts';
import type { OpenWork } from '../../engine/ports.ts';
import { needsOf } from '../needs.ts';
import type { FleetOptions } from './fleet-options.ts';
import type { Roster } from './roster.ts';

type Needs = readonly string[];

/** Tells the engine how many items workers could take now. The engine claims, and sends, no more than that. */
export class Admission {
  readonly #options: Pick<FleetOptions, 'place' | 'secrets' | 'signer'> & { readonly emit: Emit };
  readonly #roster: Roster;
  #wanted = 0;
  /** Of tasks that have something to do. */
  #needs: readonly Needs[] = [];
  /** Of orders that wait in the database. */
  #unfit: readonly Needs[] = [];
  #isWaiting = false;
  #why: string | undefined;

  constructor(options: Pick<FleetOptions, 'place' | 'secrets' | 'signer'> & { readonly emit: Emit }, roster: Roster) {
    this.#options = options;
    this.#roster = roster;
  }

  /** For `fleet status` and autoscalers: how many items could run now, and what their tasks need. */
  get demand(): { readonly wanted: number; readonly needs: readonly Needs[] } {
    return { wanted: this.#wanted, needs: this.#needs };
  }

  slots(tasks: readonly Task[], role: OpenWork['role']): number {
    return this.#roster.slotsFor(tasks.map((task) => this.#needsOf({ task, role })));
  }

  fits(work: OpenWork): boolean {
    return this.#roster.missing(this.#needsOf(work)) === undefined;
  }

  setDemand(items: number): void {
    this.#wanted = items;
  }

  /** `isWaiting`: nothing of it can be sent, and nothing runs. */
  reportOpenWork(work: readonly OpenWork[], isWaiting: boolean): void {
    this.#needs = work.map((each) => this.#needsOf(each));
    this.#isWaiting = isWaiting;
    this.#tell();
  }

  /** What orders need that wait although no worker fits. */
  noteUnfit(needs: readonly Needs[]): void {
    this.#unfit = needs;
    this.#tell();
  }

  /** Each change is told once. */
  #tell(): void {
    const why = this.#whyWaiting();
    if (why === this.#why) return;
    this.#why = why;
    if (why !== undefined) this.#options.emit({ type: 'fleet:waiting', reason: why });
    else this.#options.emit({ type: 'fleet:ready', slots: this.#roster.slotsFor(this.#needs) });
  }

  #whyWaiting(): string | undefined {
    if (!this.#isWaiting && this.#unfit.length === 0) return undefined;
    if (this.#roster.size === 0) return 'no worker is connected';
    if (this.#roster.isEmpty) return 'no connected worker takes orders: `nightshift fleet status` shows why';
    const wanted = this.#isWaiting ? [...this.#unfit, ...this.#needs] : this.#unfit;
    const missing = wanted.map((needs) => this.#roster.missing(needs)).find((each) => each !== undefined);
    if (missing) return lackOf(missing);
    // Workers fit, so the engine is about to claim. Until then, keep the reason that was reported.
    return this.#isWaiting ? this.#why : undefined;
  }

  #needsOf({ task, role }: OpenWork): string[] {
    const { place, secrets, signer } = this.#options;
    const secretNames = Object.keys(secrets());
    return needsOf({ role, settings: task.settings, secretNames, place: place(task), key: signer.publicKey });
  }
}

export function lackOf(missing: Needs): string {
  return `no worker has ${missing.join(' and ')}`;
}
