import type { Trouble } from '../../core/model/model.ts';
import type { OfferProblem } from '../needs.ts';
import type { Work, WorkOutcome } from '../protocol.ts';

/** What only you can fix is offered again after this time: you may have logged in. */
const RETRY_MS = 5 * 60_000;
/** After trouble that passes, a worker does not offer what caused it for this long, and longer each time. */
const FIRST_REST_MS = 1000;
const LONGEST_REST_MS = 60_000;

export interface OfferSources {
  /** What does not change: roles, labels, secrets. */
  readonly fixed: readonly string[];
  /** Where it can work, and for how long. */
  readonly places: () => readonly string[];
  /** Where it can't work: the offer that is missing, and why. */
  readonly withoutPlaces?: ReadonlyMap<string, string>;
  /** Asks the agents' programs. For each agent: undefined if it can be started, otherwise what to do. */
  readonly agents: () => Promise<ReadonlyMap<string, string | undefined>>;
  /** How often the programs are asked, in milliseconds. */
  readonly everyMs: number;
  now(): number;
}

/** What a worker can do, and what it can't at the moment. */
export class Offers {
  readonly #sources: OfferSources;
  #agents: ReadonlyMap<string, string | undefined> = new Map();
  #askedAt = Number.NEGATIVE_INFINITY;
  /** What could not be used, such as `agent:claude`, and until when. */
  readonly #withdrawn = new Map<string, { readonly why: string; readonly until: number }>();
  /** Until when it offers nothing. */
  #restUntil = 0;
  /** How long the next rest takes: of an offer, or of all. */
  readonly #restMs = new Map<string | undefined, number>();

  constructor(sources: OfferSources) {
    this.#sources = sources;
  }

  get list(): string[] {
    const agents = [...this.#agents].flatMap(([name, missing]) => (missing === undefined ? [`agent:${name}`] : []));
    const { fixed, places } = this.#sources;
    return [...agents, ...fixed, ...places()].filter((name) => !this.#withdrawn.has(name)).sort();
  }

  /** For `fleet status`: why it gets no orders that need an agent or a place. */
  get problems(): OfferProblem[] {
    const agents = [...this.#agents].flatMap(([name, why]) =>
      why === undefined ? [] : [{ offer: `agent:${name}`, why }],
    );
    const places = [...(this.#sources.withoutPlaces ?? [])].map(([offer, why]) => ({ offer, why }));
    const withdrawn = [...this.#withdrawn].map(([offer, { why }]) => ({ offer, why }));
    return [...agents, ...places, ...withdrawn];
  }

  /** After trouble that may pass, the worker takes no orders for a while: other workers may do better. */
  get isResting(): boolean {
    return this.#sources.now() < this.#restUntil;
  }

  /** Whether it is known which agents there are. */
  get isAsked(): boolean {
    return this.#agents.size > 0;
  }

  async refresh(): Promise<void> {
    const now = this.#sources.now();
    for (const [name, { until }] of this.#withdrawn) if (until <= now) this.#withdrawn.delete(name);
    if (now - this.#askedAt < this.#sources.everyMs) return;
    this.#askedAt = now;
    this.#agents = await this.#sources.agents();
  }

  /** What the end of an order says about this machine. */
  noteOutcome({ order }: Work, outcome: WorkOutcome): void {
    const trouble = outcome.role === 'manager' ? undefined : outcome.trouble;
    const now = this.#sources.now();
    if (!trouble) this.#restMs.clear();
    else if (trouble.remedy !== undefined) {
      const why = `${trouble.reason}: ${trouble.remedy}`;
      this.#withdrawn.set(trouble.offer ?? `agent:${order.settings.agent}`, { why, until: now + RETRY_MS });
    } else if (trouble.until === undefined && !trouble.isRequested && !trouble.isLimit) this.#rest(trouble, now);
  }

  #rest({ offer, reason }: Trouble, now: number): void {
    const restsUntil = offer === undefined ? this.#restUntil : (this.#withdrawn.get(offer)?.until ?? 0);
    // Orders that were taken together fail together: that is one trouble.
    if (now < restsUntil) return;
    const ms = this.#restMs.get(offer) ?? FIRST_REST_MS;
    this.#restMs.set(offer, Math.min(ms * 2, LONGEST_REST_MS));
    if (offer === undefined) this.#restUntil = now + ms;
    else this.#withdrawn.set(offer, { why: reason, until: now + ms });
  }
}
