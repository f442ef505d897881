import type { LessonState } from '../learning/lesson.ts';
import type { NightshiftEvent, TaskCounts, TranscriptEntry } from '../model/events.ts';
import type { Usage } from '../model/model.ts';
import { withdrawnTo } from '../model/older-events.ts';
import type { Status } from '../model/status.ts';
import { sum } from '../model/usage.ts';
import type { Expenses, Limits } from '../schedule/budget.ts';
import { isAll, type ScopeShare, scopeShareOf } from '../schedule/scope-share.ts';
import type { Pace } from './pace.ts';
import { nameOf, type RunningSession, Sessions } from './sessions.ts';
import { StatusCounts } from './status-counts.ts';

/** How many failures and ends are kept; a view shows fewer. */
const KEPT_FAILURES = 5;
const KEPT_ENDS = 200;

export interface Failure {
  readonly task: string;
  readonly index: number;
  readonly label?: string | undefined;
  readonly reason: string;
  readonly worker?: string | undefined;
}

/** What a live view shows: a fold over the events of one run. It reads no clock and ignores unknown events. */
export class ViewState {
  shift = '';
  tasks: string[] = [];
  agent = '';
  /** Undefined until it is known. */
  part: ScopeShare | undefined;
  startedAt = 0;
  lastAt = 0;
  /** The active time of the run at its last event, and the wall-clock time of that event. */
  #elapsed = { ms: 0, at: 0 };
  /** The item-tasks in the scope of the run. */
  counts = new StatusCounts();
  /** How many items have all tasks done that are in the scope of the run. */
  itemsDone = 0;
  /** How many items may run at once; undefined until it is known. */
  limit: number | undefined;
  limitReason: string | undefined;
  failures: Failure[] = [];
  usage: Usage = {};
  /** When item-tasks ended, the latest last. */
  ends: number[] = [];
  limits: Limits = {};
  /** By id: lessons that changed in this run. */
  readonly lessons = new Map<string, LessonState>();
  /** The tasks whose lessons the manager folds now, and since when. */
  readonly folding = new Map<string, number>();
  /** How often an agent lost context, and the last item where it did. */
  compacted: { readonly times: number; readonly last: Pick<NightshiftEvent, 'index' | 'label'> } | undefined;
  draining: string | undefined;
  /** Running items are being given back. */
  isStopping = false;
  /** Nothing new starts until the run is resumed; an ISO time. */
  pausedSince: string | undefined;
  waiting: { readonly until: number; readonly reason: string } | undefined;
  /** No worker of the fleet fits: what is needed. */
  waitingForWorkers: string | undefined;
  /** The workers of the fleet that take orders of this run, with their slots. */
  readonly workers = new Map<string, number>();
  ended: { readonly exitCode: number; readonly reason: string } | undefined;
  readonly #sessions: Sessions;
  #before: Expenses = { usage: {}, ms: 0, failures: 0 };
  #failures = 0;
  /** The status of each item-task that this run has claimed. */
  readonly #held = new Map<string, Status>();

  /** `root`: where the shift is, to shorten paths. */
  constructor(root?: string) {
    this.#sessions = new Sessions(root);
  }

  /** The sessions that run now, by item-task. */
  get running(): ReadonlyMap<string, RunningSession> {
    return this.#sessions.running;
  }

  /** Item-tasks that have started and not ended, including those between dev and qa. */
  get begun(): number {
    return this.#held.size;
  }

  /** Item-tasks that have not ended. */
  get remaining(): number {
    return this.counts.remaining;
  }

  /** What the shift has spent so far, for its limits. */
  spent(now: number): Expenses {
    const { usage, ms } = this.#before;
    return { usage: sum(usage, this.usage), ms: ms + this.elapsed(now), failures: this.#failures };
  }

  /** How long the run has been active. */
  elapsed(now: number): number {
    // While it is paused and nothing runs, no time counts.
    if (this.pausedSince !== undefined && this.begun === 0) return this.#elapsed.ms;
    return this.#elapsed.ms + Math.max(0, now - this.#elapsed.at);
  }

  paceOf(session: RunningSession, now: number): Pace {
    return this.#sessions.paceOf(session, now);
  }

  /** Output of a session, which the journal does not have. */
  heard(task: string, item: string, at: number, entry?: TranscriptEntry): void {
    this.#sessions.heard(task, item, at, entry);
  }

  add(event: NightshiftEvent): void {
    const at = Date.parse(event.at);
    this.lastAt = Math.max(this.lastAt, at);
    if (event.elapsed !== undefined) this.#elapsed = { ms: event.elapsed, at };
    switch (event.type) {
      case 'run:started':
        // A line of a journal may contain anything.
        if (Array.isArray(event.tasks)) this.#start(event, at);
        return;
      case 'run:draining':
        this.draining = event.signal;
        return;
      case 'run:stopping':
        this.isStopping = true;
        return;
      case 'run:paused':
      case 'run:resumed':
        this.pausedSince = event.type === 'run:paused' ? event.since : undefined;
        return;
      case 'run:waiting':
        this.waiting = { until: at + event.ms, reason: event.reason };
        return;
      case 'worker:joined':
        this.workers.set(event.worker, event.slots);
        return;
      case 'worker:left':
      case 'worker:lost':
        this.workers.delete(event.worker);
        return;
      case 'fleet:waiting':
      case 'fleet:ready':
        this.waitingForWorkers = event.type === 'fleet:waiting' ? event.reason : undefined;
        return;
      case 'run:finished':
        this.ended = { exitCode: event.exitCode, reason: event.reason };
        this.#sessions.running.clear();
        this.folding.clear();
        return;
      case 'batch:claimed':
        this.limit = event.size;
        return;
      case 'batch:finished':
      case 'concurrency:changed':
        this.#limit(event);
        return;
      case 'dev:started':
      case 'qa:started':
        this.#enter(event, at);
        return;
      case 'attempt:finished':
        this.#sessions.endAttempt(event, at);
        return;
      case 'dev:finished':
      case 'qa:finished':
        this.#sessions.end(event, at);
        if (event.type === 'dev:finished' && event.compacted) {
          this.compacted = { times: (this.compacted?.times ?? 0) + 1, last: event };
        }
        return;
      case 'fold:started':
        this.folding.set(event.task ?? '', at);
        return;
      case 'fold:finished':
        this.folding.delete(event.task ?? '');
        return;
      case 'lesson:changed':
        this.lessons.set(event.id, event.to);
        return;
      case 'usage:spent':
        this.usage = sum(this.usage, event.usage);
        return;
      case 'item:recorded':
        this.#recorded(event, at);
        return;
      case 'item:returned':
        if (this.#held.get(nameOf(event)) === 'in_progress') this.counts.move('in_progress', 'todo');
        this.#release(nameOf(event));
        return;
      case 'item:withdrawn':
        this.#withdrawn(nameOf(event), withdrawnTo(event));
        return;
      case 'table:edited':
        for (const { item, column, from, to } of event.changes) {
          if (!this.tasks.includes(column)) continue;
          this.counts.move(from as Status, to as Status);
          if (column === this.tasks.at(-1)) this.itemsDone += Number(to === 'done') - Number(from === 'done');
          this.#release(`${column} ${item}`);
        }
        return;
      case 'table:grew':
        this.#grow(event.rows);
        return;
    }
  }

  /** A selection of rows stays the same. */
  #grow(rows: number): void {
    const { part } = this;
    if (part && !isAll(part.items)) return;
    this.counts.todo += rows * this.tasks.length;
    const items = part && { chosen: part.items.chosen + rows, all: part.items.all + rows };
    if (items) this.part = { ...part, items };
  }

  #start(event: Extract<NightshiftEvent, { type: 'run:started' }>, at: number): void {
    const counts: readonly TaskCounts[] = event.counts ?? [];
    this.shift = event.shift;
    this.agent = event.agent;
    this.startedAt = at;
    if (event.elapsed === undefined) this.#elapsed = { ms: 0, at };
    this.limits = event.limits ?? this.limits;
    this.#before = event.spent ?? this.#before;
    this.part = scopeShareOf(event);
    this.tasks = [...this.part.names];
    this.counts = new StatusCounts(counts);
    if (counts.length === 0) this.counts.todo = event.total * event.tasks.length;
    // An item's last task is done after all others (rule M4).
    this.itemsDone = counts.at(-1)?.done ?? 0;
  }

  #limit({ from, to, reason }: LimitChange): void {
    this.limit = to;
    if (reason !== '') {
      this.limitReason = from === to ? reason : `${from} -> ${to}: ${reason}`;
    }
  }

  #enter(event: Extract<NightshiftEvent, { type: 'dev:started' | 'qa:started' }>, at: number): void {
    const role = event.type === 'dev:started' ? 'dev' : 'qa';
    const name = nameOf(event);
    this.waiting = undefined;
    if (role === 'dev' && this.#held.get(name) !== 'in_progress') this.counts.move('todo', 'in_progress');
    // A qa may start before the end of its dev is recorded.
    if (role === 'dev') this.#held.set(name, 'in_progress');
    else if (!this.#held.has(name)) this.#held.set(name, 'qa');
    this.#sessions.begin(event, at);
  }

  #withdrawn(name: string, to: Status | null): void {
    const from = this.#held.get(name);
    this.#release(name);
    if (from === undefined) return;
    // Null: its row was removed.
    this.counts.move(from, to);
  }

  #release(name: string): void {
    this.#held.delete(name);
    this.#sessions.running.delete(name);
  }

  #recorded(event: Extract<NightshiftEvent, { type: 'item:recorded' }>, at: number): void {
    const { from, to, task = '', index = -1, label, reason, worker } = event;
    this.counts.move(from, to);
    if (to === 'qa' || to === 'in_progress') this.#held.set(nameOf(event), to);
    else this.#held.delete(nameOf(event));
    if (to !== 'done' && to !== 'failed') return;
    this.ends = [...this.ends.slice(1 - KEPT_ENDS), at];
    if (to === 'done') {
      if (task === this.tasks.at(-1)) this.itemsDone++;
      return;
    }
    this.#failures++;
    this.failures = [...this.failures.slice(1 - KEPT_FAILURES), { task, index, label, worker, reason: reason ?? '' }];
    // Rule M4: the later tasks of this item can't be reached any more.
    this.counts.blocked += this.tasks.length - 1 - this.tasks.indexOf(task);
  }
}

interface LimitChange {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}
