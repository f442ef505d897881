import { History } from '../../src/core/folds/history.ts';
import type { GroupingAnswer } from '../../src/core/learning/grouping.ts';
import type { LessonRecord } from '../../src/core/learning/lesson.ts';
import type { NightshiftEvent } from '../../src/core/model/events.ts';
import { NO_PROTECTION } from '../../src/core/model/protection.ts';
import type { Shift } from '../../src/core/model/shift.ts';
import { NO_VALUES } from '../../src/core/workspace/delivery.ts';
import { RunControl } from '../../src/engine/control.ts';
import type { Events, RunEnd, RunPorts } from '../../src/engine/ports.ts';
import { runShift } from '../../src/engine/run.ts';
import { RunClock } from '../../src/engine/run-clock.ts';
import { Running } from '../../src/engine/running.ts';
import type { Worker } from '../../src/engine/worker/worker-ports.ts';
import { compileShift } from '../../src/formats/compile.ts';
import { parseLessons, renderLessons } from '../../src/formats/lessons.ts';
import { parseManager } from '../../src/formats/manager.ts';
import { parseTask, replaceSteps } from '../../src/formats/task.ts';
import type { Documents } from '../../src/store/documents.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { Watch } from '../../src/watch/watch.ts';
import { Mortal } from './mortal.ts';
import { type Outage, Outages } from './outage.ts';
import { SimulatedClock } from './simulated-clock.ts';
import { carryOut, type Play, type Work } from './simulated-worker.ts';

export type ShiftSettings = Readonly<Record<string, string | number | boolean>>;

export interface SimulatedShiftOptions {
  readonly rows: number;
  readonly tasks?: readonly string[];
  readonly settings?: ShiftSettings;
  /** Checks alone decide; else a qa is asked. */
  readonly isChecked?: boolean;
  /** Absent: everything passes, and takes no time. */
  readonly play?: Play;
  /** What the manager's agent answers. */
  readonly manager?: GroupingAnswer;
  /** After the Steps are replaced and before the run knows. */
  readonly onStepsWritten?: (clock: SimulatedClock, text: string) => Promise<unknown>;
  /** So many writes of `lessons.json` find that it was edited at that moment. */
  readonly refusedWrites?: number;
  /** In place of a table in memory. Only the run writes to it, so the run does not watch it for edits. */
  readonly store?: Store;
}

export interface RunOptions {
  /** Laid over those of the shift. */
  readonly settings?: ShiftSettings;
  /** Milliseconds after the start. */
  readonly drainAt?: number;
  readonly stopAt?: number;
  /** `now`: running items are given back. */
  readonly pause?: { readonly at: number; readonly ms: number; readonly now: boolean };
  readonly outage?: Outage;
  /** The run dies at this moment; the journal may lose what was not flushed. */
  readonly diesAt?: number;
  readonly losesUnflushed?: boolean;
}

export interface Write {
  readonly task: string;
  readonly row: number;
  readonly to: string;
}

/** How one run went; `end` is absent if it died or an outage ended it with an error. */
export interface SimulatedRun {
  readonly end?: RunEnd;
  readonly error?: unknown;
  /** Those that the journal kept. */
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  readonly events: any[];
  /** At each of these it could have died. */
  readonly moments: number;
  readonly ms: number;
  readonly history: History;
}

const START = Date.UTC(2026, 0, 1);
const FILES = { name: 'night', root: '/r', folder: '/r/f', table: '/r/f/table.csv', managerFile: '/r/f/manager.md' };
const TASK =
  '## Configuration\n\n- agent: simulated\n\n## Steps\n\n1. Do {name}\n\n## Validation\n\n- {name} is done\n';

const CHECK = '\n  ```sh\n  true\n  ```\n';

/** By the text of all documents: most nights have the same ones. */
const COMPILED = new Map<string, Shift>();

/**
 * A shift without a folder and without processes: the engine's own scheduler on a store in memory and a simulated
 * clock. It keeps what a folder would keep, so one run can continue what another has left.
 */
export class SimulatedShift {
  readonly tasks: readonly string[];
  readonly journal: NightshiftEvent[] = [];
  readonly work: Work[] = [];
  /** The status of each row in the table when its delivery began. */
  readonly deliveries: string[] = [];
  /** Statuses that a run has written to the table, in order. */
  readonly writes: Write[] = [];
  readonly #options: SimulatedShiftOptions;
  readonly #texts: Map<string, string>;
  /** How often each role was asked about each item-task. */
  readonly #orders = new Map<string, number>();
  #rows: Record<string, string>[];
  #size: number | undefined;
  #lessons: string | undefined;
  #refused = 0;
  #runs = 0;
  #now = START;

  constructor(options: SimulatedShiftOptions) {
    this.#options = options;
    this.tasks = options.tasks ?? ['make'];
    this.#texts = new Map(this.tasks.map((task) => [task, options.isChecked ? TASK + CHECK : TASK]));
    const cells = Object.fromEntries(this.tasks.map((task) => [task, 'todo']));
    this.#rows = Array.from({ length: options.rows }, (_, row) => ({ name: `item ${row + 1}`, ...cells }));
  }

  /** By row, then by task. */
  get statuses(): string[][] {
    return this.#rows.map((row) => this.tasks.map((task) => row[task] ?? ''));
  }

  /** `lessons.json`, and the text of a task file. */
  get lessons(): readonly LessonRecord[] {
    return parseLessons(this.#lessons, 'lessons.json').book.lessons;
  }

  text(task: string): string {
    return this.#texts.get(task)!;
  }

  /** `current-batch-size` in the manifest. */
  get size(): number | undefined {
    return this.#size;
  }

  async run(options: RunOptions = {}): Promise<SimulatedRun> {
    const clock = new SimulatedClock(this.#now);
    const runClock = new RunClock(clock);
    const begun = runClock.elapsed();
    const process = new Mortal(options.diesAt);
    const run = this.#runs++;
    const events: NightshiftEvent[] = [];
    const history = this.#history();
    const listeners: Parameters<Events['listen']>[0][] = [];
    let flushed = 0;
    const emit: Events['emit'] = (happening) => {
      if (happening.type === 'item:recorded') {
        // The store says so after its write: a process that dies now has written, and tells nobody.
        this.writes.push({ task: happening.task!, row: happening.index!, to: happening.to });
      }
      if (happening.type === 'transcript' || !process.lives()) return;
      const stamp = {
        at: new Date(clock.now()).toISOString(),
        elapsed: runClock.elapsed() - begun,
        run: `run-${run}`,
        seq: events.length,
        shift: FILES.name,
      };
      const event = { ...happening, ...stamp };
      events.push(event);
      history.add(event);
      for (const listener of listeners) listener(event);
    };
    const memory = new MemoryStore({ rows: this.#rows, tasks: this.tasks, emit });
    const outages = new Outages(clock, options.outage);
    const store = outages.store(this.#options.store ?? memory);
    const settings = { ...this.#options.settings, ...options.settings };
    const load = () => this.#load(settings);
    const documents = this.#documents(clock);
    const control = controlAt(clock, options);
    const worker: Worker = {
      run: async (order, { emit: tell, signal }) => {
        const { role, task, item } = order;
        const status = memory.rows()[item.index]?.[task] ?? '';
        const key = `${role} ${task} ${item.index}`;
        const nth = this.#orders.get(key) ?? 0;
        this.#orders.set(key, nth + 1);
        const work: Work = { run, role, task, row: item.index, status, from: clock.now() };
        this.work.push(work);
        const act = (await this.#options.play?.(order, nth)) ?? {};
        const outcome = await carryOut(order, act, { clock, emit: tell, signal });
        if (!process.isDead) work.to = clock.now();
        return outcome;
      },
      learn: async ({ role }) => ({ role, proposal: this.#options.manager ?? { lessons: [], summary: '' } }),
      deliver: async ({ last: { item, task } }) => {
        this.deliveries.push(memory.rows()[item.index]?.[task] ?? '');
        return { kind: 'delivered', values: NO_VALUES };
      },
      drop: async () => {},
    };
    const ports: RunPorts = {
      store: process.port(store),
      documents: { ...process.port(documents), protect: documents.protect },
      load: outages.load(load),
      worker: () => worker,
      findAgent: () => ({ hasModel: false, runsSteps: false, judges: true }),
      shiftFiles: new Watch(this.#options.store ? { sleep: () => new Promise(() => {}) } : clock),
      protection: NO_PROTECTION,
      events: {
        emit,
        listen: (listener) => listeners.push(listener),
        flush: async () => {
          if (process.lives()) flushed = events.length;
        },
        checkKept: () => {},
        history,
      },
      control,
      running: new Running(),
      clock: runClock,
      scope: { select: () => ({ includes: () => true }) },
      owner: `run-${run}`,
    };
    const from = clock.now();
    const ended = await clock.run(() =>
      Promise.race([runShift(ports, load()), process.death]).catch((error: unknown) => {
        if (!options.outage) throw error;
        return { error };
      }),
    );
    this.#now = clock.now();
    this.#rows = memory.rows();
    const kept = process.isDead && options.losesUnflushed ? events.slice(0, flushed) : events;
    this.journal.push(...kept);
    const record = { events: kept, moments: process.moments, ms: clock.now() - from, history };
    if (ended === 'died') return record;
    return 'error' in ended ? { ...record, ...ended } : { ...record, end: ended };
  }

  /** As a new process reads it. */
  #history(): History {
    const history = new History();
    for (const [i, event] of this.journal.entries()) history.read(JSON.parse(JSON.stringify(event)), i === 0);
    return history;
  }

  #load(settings: ShiftSettings): Shift {
    const size = this.#size === undefined ? {} : { 'current-batch-size': this.#size };
    const lines = Object.entries({ ...settings, ...size }).map(([key, value]) => `- ${key}: ${value}`);
    const order = this.tasks.map((task, i) => `${i + 1}. ${task}`);
    const manager = `## Shift Configuration\n\n${lines.join('\n')}\n\n## Task Order\n\n${order.join('\n')}\n`;
    const key = [manager, this.#lessons, ...this.#texts.values()].join('\n');
    const known = COMPILED.get(key);
    if (known) return known;
    const tasks = [...this.#texts].map(([name, text]) => ({
      name,
      file: `${name}.md`,
      document: parseTask(text, `${name}.md`),
    }));
    const parsed = {
      ...FILES,
      manager: parseManager(manager, FILES.managerFile),
      tasks,
      secrets: new Map<string, string>(),
      lessons: parseLessons(this.#lessons, 'lessons.json'),
    };
    const shift = compileShift(parsed, ['name', ...this.tasks]);
    COMPILED.set(key, shift);
    return shift;
  }

  #documents(clock: SimulatedClock): Documents {
    return {
      folderId: async () => 'this',
      isThere: async () => true,
      finishBatch: async (_, size) => {
        this.#size = size?.to ?? this.#size;
        return this.#size;
      },
      writeSteps: async (task, from, steps) => {
        if (from !== this.#texts.get(task)) return undefined;
        const text = replaceSteps(from, steps);
        this.#texts.set(task, text);
        await this.#options.onStepsWritten?.(clock, text);
        return text;
      },
      writeLessons: async (from, book) => {
        if (this.#refused < (this.#options.refusedWrites ?? 0)) {
          this.#refused++;
          return undefined;
        }
        if (from !== this.#lessons) return undefined;
        this.#lessons = renderLessons(book);
        return this.#lessons;
      },
      keepVersion: async () => {},
      protect: () => ({ [Symbol.asyncDispose]: async () => {} }),
      revision: 0,
      putBack: async () => [],
    };
  }
}

const BY = { signal: 'SIGINT' };

function controlAt(clock: SimulatedClock, { drainAt, stopAt, pause }: RunOptions): RunControl {
  const control = new RunControl();
  const at = (milliseconds: number | undefined, act: () => void) => {
    if (milliseconds !== undefined) void clock.sleep(milliseconds).then(act);
  };
  at(drainAt, () => control.startDraining(BY));
  at(stopAt, () => control.stopNow(BY));
  at(pause?.at, () => {
    control.startPause({ since: new Date(clock.now()).toISOString(), now: pause!.now }, BY);
    at(pause!.ms, () => control.resume(BY));
  });
  return control;
}
