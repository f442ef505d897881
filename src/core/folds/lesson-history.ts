import type { LessonState } from '../learning/lesson.ts';
import type { LessonVote, NightshiftEvent, Recommendation } from '../model/events.ts';
import { copyOf } from '../text/short-copy.ts';
import type { CheckpointLine, StepsChange } from './checkpoint.ts';

const LONGEST_TEXT = 10_000;
/** Only the latest changes of a task's Steps are kept. */
const MOST_CHANGES = 200;

type Waiting<T> = Map<string, Map<string, T[]>>;
type Of<T extends NightshiftEvent['type']> = Extract<NightshiftEvent, { type: T }>;

/** What the journal says about learning: what waits to be folded, and what the folds did. */
export class LessonHistory {
  /** By task and item: recommendations of successful devs that are not settled yet. */
  readonly #recommendations: Waiting<Recommendation> = new Map();
  /** By task and item: what devs and qas said about lessons, not counted yet. */
  readonly #votes: Waiting<LessonVote> = new Map();
  readonly #changes = new Map<string, StepsChange[]>();
  /** By id: the state that its last event told. */
  readonly #states = new Map<string, LessonState>();

  recommendations(task: string): ReadonlyMap<string, readonly Recommendation[]> {
    return this.#recommendations.get(task) ?? new Map();
  }

  votes(task: string): readonly LessonVote[] {
    return [...(this.#votes.get(task)?.values() ?? [])].flat();
  }

  changesOf(task: string): readonly StepsChange[] {
    return this.#changes.get(task) ?? [];
  }

  /** Undefined if no event told of this lesson. */
  stateOf(id: string): LessonState | undefined {
    return this.#states.get(id);
  }

  add(event: NightshiftEvent): void {
    switch (event.type) {
      case 'dev:finished':
        this.#devFinished(event);
        return;
      case 'attempt:finished':
      case 'qa:finished':
        this.#vote(event);
        return;
      case 'lesson:changed':
        this.#states.set(event.id, event.to);
        return;
      case 'steps:changed':
        this.#stepsChanged(event);
        this.#settle(event);
        return;
      case 'steps:kept':
        this.#settle(event);
        return;
    }
  }

  /** All but what belongs to an item. */
  *checkpoint(): Generator<CheckpointLine> {
    for (const [task, changes] of this.#changes) {
      for (const change of changes) yield { type: 'checkpoint:steps', task, change };
    }
    for (const [id, state] of this.#states) yield { type: 'checkpoint:lesson', id, state };
  }

  /** What waits of one item, for its line of a checkpoint. */
  waitingOf(task: string, item: string): { recommendations?: Recommendation[]; votes?: LessonVote[] } {
    const recommendations = this.#recommendations.get(task)?.get(item);
    const votes = this.#votes.get(task)?.get(item);
    return { ...(recommendations && { recommendations }), ...(votes && { votes }) };
  }

  restore(line: CheckpointLine): void {
    switch (line.type) {
      case 'checkpoint:item': {
        const { task, item, recommendations, votes } = line;
        if (recommendations) at(this.#recommendations, task).set(item, [...recommendations]);
        if (votes) at(this.#votes, task).set(item, [...votes]);
        return;
      }
      case 'checkpoint:steps':
        this.#changes.set(line.task, [...this.changesOf(line.task), line.change]);
        return;
      case 'checkpoint:lesson':
        this.#states.set(line.id, line.state);
    }
  }

  #devFinished(event: Of<'dev:finished'>): void {
    const { status, attempts, task = '', item = '', index = 0, agent, model } = event;
    const texts = status === 'SUCCESS' ? (event.recommendations ?? []) : [];
    const waiting = at(this.#recommendations, task);
    waiting.delete(item);
    if (texts.length === 0) return;
    const origin = { item, row: index + 1, attempts, at: event.at, ...(agent && { agent }), ...(model && { model }) };
    waiting.set(
      item,
      texts.map((text) => ({ text: copyOf(text, LONGEST_TEXT), ...origin })),
    );
  }

  #vote(event: Of<'attempt:finished' | 'qa:finished'>): void {
    const { task = '', item = '', index = 0, votes = [] } = event;
    if (votes.length === 0) return;
    const waiting = at(this.#votes, task);
    const origin = { item, row: index + 1, at: event.at };
    const counted = votes.map(({ lesson, effect, reason }) => ({ lesson, effect, reason: copyOf(reason), ...origin }));
    waiting.set(item, [...(waiting.get(item) ?? []), ...counted]);
  }

  #stepsChanged(event: Of<'steps:changed'>): void {
    const { at: time, run, to, batch, task = '' } = event;
    const lessons = event.lessons.map((lesson) => ({ ...lesson, text: copyOf(lesson.text) }));
    const change = { at: time, run, to, batch, summary: copyOf(event.summary), lessons };
    this.#changes.set(task, [...this.changesOf(task).slice(1 - MOST_CHANGES), change]);
  }

  #settle({ task = '', considered, counted = {} }: Of<'steps:changed' | 'steps:kept'>): void {
    for (const item of considered) this.#recommendations.get(task)?.delete(item);
    const waiting = at(this.#votes, task);
    for (const [item, votes] of numbersIn(counted)) {
      const left = waiting.get(item)?.slice(votes) ?? [];
      if (left.length > 0) waiting.set(item, left);
      else waiting.delete(item);
    }
  }
}

/** How many votes of each item; older journals list the items whose votes are all counted. */
function numbersIn(counted: Readonly<Record<string, number>> | readonly string[]): [item: string, votes: number][] {
  return Array.isArray(counted)
    ? counted.map((item) => [item, Number.POSITIVE_INFINITY])
    : Object.entries(counted as Readonly<Record<string, number>>);
}

function at<T>(all: Waiting<T>, task: string): Map<string, T[]> {
  const found = all.get(task) ?? new Map<string, T[]>();
  all.set(task, found);
  return found;
}
