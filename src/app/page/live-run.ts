import { estimateFinish } from '../../core/folds/estimate.ts';
import { ViewState } from '../../core/folds/view-state.ts';
import { isReadable } from '../../core/model/event-shape.ts';
import type { FinishEstimate, SessionAnswer } from '../../core/page/answers.ts';
import type { JournalPlace } from '../../core/page/stream-position.ts';
import { BEGINNING, filesOf, readOn } from '../../store/folder/journal/journal-place.ts';
import { filesOfRun, parseLine } from '../../store/folder/journal/journal-reader.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { hearTranscripts } from '../run/hear-transcripts.ts';

/** What is going on in a run. */
export interface RunState {
  readonly sessions: readonly SessionAnswer[];
  readonly finish?: FinishEstimate;
  readonly waiting?: { readonly until: string; readonly reason: string };
  /** No worker of the fleet fits: what is needed. */
  readonly waitingForWorkers?: string;
  readonly draining?: string;
  /** Why an item failed last. */
  readonly lastReason?: string;
}

/** How often what agents say is looked at. */
const LISTEN_EVERY_MS = 1000;
const PEOPLE = Buffer.from('"run":""');

/** Follows a run of another process in the journal, from its start. A long journal takes its time, and nobody waits. */
export class LiveRun {
  readonly run: string;
  readonly #paths: ShiftPaths;
  readonly #needle: Buffer;
  readonly #state: ViewState;
  #place: JournalPlace | undefined;
  #reading: Promise<void> | undefined;
  #listenedAt = Number.NEGATIVE_INFINITY;
  #isCurrent = false;

  constructor(paths: ShiftPaths, run: string) {
    this.run = run;
    this.#paths = paths;
    this.#needle = Buffer.from(JSON.stringify(run));
    this.#state = new ViewState(paths.root);
  }

  /** Reads what is new. */
  update(): Promise<void> {
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Undefined until the journal was read once. `rowOf`: the row of an item now, given the one that it had. */
  describe(now: number, rowOf: (item: string, index: number) => number): RunState | undefined {
    const state = this.#state;
    if (!this.#isCurrent || state.ended) return undefined;
    const { startedAt, ends, remaining, waiting, waitingForWorkers, draining, failures } = state;
    const finish = estimateFinish({ startedAt, ends, remaining }, now);
    const lastReason = failures.at(-1)?.reason;
    return {
      sessions: [...state.running.values()].map((session) => {
        const { task, item, index, label, role, agent, attempt, maxAttempts, since, doing, worker } = session;
        return {
          ...{ task, item, row: rowOf(item, index) + 1, role, agent, attempt, maxAttempts },
          ...(label === undefined ? {} : { label }),
          since: new Date(since).toISOString(),
          pace: state.paceOf(session, now),
          ...(worker === undefined ? {} : { worker }),
          ...(doing === undefined ? {} : { doing }),
        };
      }),
      ...(finish ? { finish: { earliest: iso(finish.earliest), latest: iso(finish.latest) } } : {}),
      ...(waiting && waiting.until > now ? { waiting: { ...waiting, until: iso(waiting.until) } } : {}),
      ...(waitingForWorkers === undefined ? {} : { waitingForWorkers }),
      ...(draining === undefined ? {} : { draining }),
      ...(lastReason === undefined ? {} : { lastReason }),
    };
  }

  async #readOn(): Promise<void> {
    this.#place ??= startOf(this.#paths.journal, this.run);
    for (;;) {
      const step = await readOn(this.#paths.journal, this.#place);
      // The journal was replaced: what this state has counted may be counted again, which the next run corrects.
      if (!step) this.#place = startOf(this.#paths.journal, this.run);
      for (const { bytes } of step?.lines ?? []) this.#add(bytes);
      if (step) this.#place = step.place;
      if (!step || step.isAtEnd) break;
    }
    if (performance.now() - this.#listenedAt >= LISTEN_EVERY_MS) {
      this.#listenedAt = performance.now();
      await hearTranscripts(this.#paths, this.#state);
    }
    this.#isCurrent = true;
  }

  #add(bytes: Buffer): void {
    const hasBegun = this.#state.startedAt > 0;
    if (!bytes.includes(this.#needle) && !(hasBegun && bytes.includes(PEOPLE))) return;
    const event = parseLine(bytes);
    if (!isReadable(event)) return;
    if (event.run === this.run || (hasBegun && event.run === '')) this.#state.add(event);
  }
}

function startOf(journal: string, run: string): JournalPlace {
  const [first] = filesOfRun(journal, run);
  const file = filesOf(journal).find(({ path }) => path === first)?.id ?? '';
  return { ...BEGINNING, file };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
