import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { versionOf } from '../../src/core/model/identity.ts';
import type { Sequence } from '../../src/core/model/model.ts';
import { isStatus, type Status } from '../../src/core/model/status.ts';
import { parseLessons } from '../../src/formats/lessons.ts';
import { parseManager } from '../../src/formats/manager.ts';
import { parseTask } from '../../src/formats/task.ts';
import type { ShiftHandle } from '../harness.ts';
import { type Dispatch, FIRST_SIZE, finalStatus, lessonOf, SENT_BACK, TASKS } from './crash-shift.ts';
import { type Effect, readEffects } from './effects.ts';
import { type Board, Replay } from './replay.ts';

/** Looks at a shift whenever nothing of it runs, and compares with what it saw before and what the run had said. */
export class Witness {
  readonly violations: string[] = [];
  /** Item-tasks whose dev was started again after a kill. */
  again = 0;
  devs = 0;
  torn = 0;
  readonly #shift: ShiftHandle;
  readonly #sequence: Sequence;
  readonly #rows: { name: string; kind: string }[];
  readonly #manager: string;
  readonly #protected: Map<string, string>;
  #board: Board;
  #size = FIRST_SIZE;
  #kills = 0;
  #effectsSeen = 0;
  /** By key: the cell that it belongs to, how often its dev began, how often it was in flight at a kill; qa the same. */
  readonly #cells = new Map<string, string>();
  readonly #begun = new Map<string, number>();
  readonly #hit = new Map<string, number>();

  constructor(shift: ShiftHandle, sequence: Sequence) {
    this.#shift = shift;
    this.#sequence = sequence;
    this.#rows = this.#readRows();
    this.#manager = skeleton(shift.manager);
    this.#protected = new Map(TASKS.map((task) => [task, withoutSteps(shift.task(task))]));
    this.#board = this.#readBoard();
  }

  /** After a run that was killed or has come to its end. */
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  look(dispatch: Dispatch, events: readonly any[], killed: boolean, versions: ReadonlyMap<string, string>): void {
    if (killed) this.#kills++;
    const before = this.#board;
    const replay = new Replay({ dispatch, sequence: this.#sequence, size: this.#size }, before, versions, (what) =>
      this.#violated(what),
    );
    for (const event of events) replay.follow(event);

    this.#sameRows();
    const after = this.#readBoard();
    replay.compare(after, killed);
    this.#checkManager(replay, killed);
    for (const task of TASKS) this.#checkTask(task);
    this.#checkLessons(killed);
    this.#checkJournal(after);
    const effects = readEffects(this.#shift);
    this.#checkEffects(effects.slice(this.#effectsSeen), before, after);
    this.#checkOutputs(effects, after);
    this.#effectsSeen = effects.length;
    this.#board = after;
    if (killed) this.#countInFlight(after);
    else this.#checkEnd(after, replay.hasEnded);
  }

  /** The versions of the Steps that the next run finds. */
  versions(): Map<string, string> {
    return new Map(TASKS.map((task) => [task, versionOf(this.#shift.task(task))]));
  }

  #violated(what: string): void {
    this.violations.push(`after kill ${this.#kills}: ${what}`);
  }

  #readRows(): { name: string; kind: string }[] {
    return this.#shift.rows().map(({ name = '', kind = '' }) => ({ name, kind }));
  }

  #sameRows(): void {
    try {
      if (JSON.stringify(this.#readRows()) !== JSON.stringify(this.#rows)) this.#violated('rows were lost or changed');
    } catch (error) {
      this.#violated(`the table does not parse: ${error}`);
    }
  }

  #readBoard(): Board {
    return new Map(
      TASKS.map((task) => [
        task,
        this.#shift.column(task).map((value): Status => {
          if (!isStatus(value)) this.#violated(`${value} is no status`);
          return value as Status;
        }),
      ]),
    );
  }

  #checkManager(replay: Replay, killed: boolean): void {
    const { manager } = this.#shift;
    parseManager(manager, 'manager.md');
    if (skeleton(manager) !== this.#manager) this.#violated('manager.md was changed beyond size and Progress');
    const size = Number(/current-batch-size: (\d+)$/m.exec(manager)?.[1]);
    if (!replay.mayBeWritten(killed).includes(size)) {
      this.#violated(`current-batch-size is ${size}, and the run had said ${replay.size}`);
    }
    this.#size = size;
  }

  #checkTask(task: string): void {
    const text = this.#shift.task(task);
    parseTask(text, `${task}.md`);
    if (withoutSteps(text) !== this.#protected.get(task)) this.#violated(`${task}.md changed beyond its Steps`);
    const [first, ...lessons] = stepsOf(text);
    if (first !== `${task} {name}`) this.#violated(`the first step of ${task} is now: ${first}`);
    if (new Set(lessons).size !== lessons.length) this.#violated(`a lesson stands twice in ${task}.md`);
    const known = new Set(this.#rows.map((_, row) => lessonOf(row, task)));
    for (const lesson of lessons) if (!known.has(lesson)) this.#violated(`nobody recommended: ${lesson}`);
  }

  /** Each lesson has one record, which says whether the Steps have it; only a kill comes between the two. */
  #checkLessons(killed: boolean): void {
    const file = `${this.#shift.folder}/lessons.json`;
    if (!this.#shift.project.exists(file)) return;
    const { lessons } = parseLessons(this.#shift.project.read(file), file).book;
    const names = lessons.map(({ task, text }) => `${task}: ${text}`);
    if (new Set(names).size !== names.length) this.#violated('a lesson is twice in lessons.json');
    for (const { task, text, state, inSteps } of lessons) {
      if (state !== 'firm') this.#violated(`${text} is ${state}`);
      const isThere = stepsOf(this.#shift.task(task)).includes(text);
      if (!killed && !(inSteps && isThere)) this.#violated(`${text} is not in the Steps, or not confirmed`);
    }
  }

  /** Half a line for each kill at most, and never one that is glued to the next. */
  #checkJournal(after: Board): void {
    const file = this.#shift.project.path(`${this.#shift.folder}/.engine/journal.jsonl`);
    if (!existsSync(file)) return;
    let torn = 0;
    const told = new Set<string>();
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line === '') continue;
      try {
        const { type, task, index, reason, recommendations } = JSON.parse(line);
        if (type !== 'dev:finished' && type !== 'qa:finished') continue;
        if (reason !== undefined) told.add(`why ${task} ${index}`);
        for (const text of recommendations ?? []) told.add(text);
      } catch {
        torn++;
        if (line.includes('}{"type"')) this.#violated(`two lines of the journal are one: ${line}`);
      }
    }
    if (torn > this.#kills) this.#violated(`${torn} lines of the journal do not parse`);
    this.torn = torn;
    this.#checkTold(told, after);
  }

  /** Reasons and recommendations are in the journal before the status is in the table. */
  #checkTold(told: ReadonlySet<string>, after: Board): void {
    for (const [task, column] of after) {
      for (const [row, status] of column.entries()) {
        const what = `${task} of row ${row + 1} is ${status}`;
        if (status === 'failed' && !told.has(`why ${task} ${row}`)) this.#violated(`${what}, and nothing says why`);
        const lesson = lessonOf(row, task);
        const isKept = lesson === undefined || told.has(lesson);
        if ((status === 'qa' || status === 'done') && !isKept)
          this.#violated(`${what}, and its recommendation is lost`);
      }
    }
  }

  #checkEffects(fresh: readonly Effect[], found: Board, after: Board): void {
    const attempts = new Map<string, number>();
    for (const { what, role, task, row, attempt, key } of fresh) {
      if (what !== 'start') continue;
      const cell = `${task} of row ${row + 1}`;
      if ((this.#cells.get(key) ?? cell) !== cell) this.#violated(`${cell} has the key of ${this.#cells.get(key)}`);
      this.#cells.set(key, cell);
      const was = found.get(task)![row]!;
      if (was === 'done' || was === 'failed') this.#violated(`${role} began ${cell}, which was ${was}`);
      const isSentBack = this.#rows[row]!.kind === SENT_BACK;
      const isBack = isSentBack && attempts.has(`qa ${key}`);
      if (role === 'dev' && was === 'qa' && !isBack) this.#violated(`a dev began ${cell}, which was at qa`);
      if (after.get(task)![row] === 'todo') this.#violated(`${role} began ${cell}, which was not claimed`);
      const run = `${role} ${key}`;
      const before = attempts.get(run) ?? (isBack ? 1 : 0);
      const expected = role === 'dev' ? before + 1 : 1;
      if (attempt !== expected) this.#violated(`${role} began attempt ${attempt} of ${cell}, not ${expected}`);
      if (role === 'qa' && attempts.has(run) && !isBack) this.#violated(`${cell} was judged twice in one run`);
      attempts.set(run, attempt);
      // What is sent back is judged again, also when a kill has made its dev begin anew.
      if (attempt === 1 && !(role === 'qa' && isSentBack)) this.#countBegun(run, cell);
    }
  }

  #countBegun(run: string, cell: string): void {
    const begun = (this.#begun.get(run) ?? 0) + 1;
    this.#begun.set(run, begun);
    const isDev = run.startsWith('dev');
    if (isDev) this.devs++;
    if (isDev && begun > 1) this.again++;
    const inFlight = this.#hit.get(run) ?? 0;
    if (begun > 1 + inFlight) this.#violated(`${run} (${cell}) began ${begun} times, ${inFlight} kills hit it`);
  }

  #countInFlight(after: Board): void {
    for (const [key, cell] of this.#cells) {
      const [, task, row] = /^(\w+) of row (\d+)$/.exec(cell)!;
      const status = after.get(task!)![Number(row) - 1];
      const run = status === 'in_progress' ? `dev ${key}` : status === 'qa' ? `qa ${key}` : undefined;
      if (run !== undefined) this.#hit.set(run, (this.#hit.get(run) ?? 0) + 1);
    }
  }

  /** Captured values are in the table with the status, and are those of the dev that counted. */
  #checkOutputs(effects: readonly Effect[], after: Board): void {
    for (const task of TASKS) {
      const tokens = this.#shift.column(`token_${task}`);
      const last = new Map<number, number>();
      for (const each of effects) {
        if (each.what === 'end' && each.role === 'dev' && each.task === task) last.set(each.row, each.pid);
      }
      for (const [row, status] of after.get(task)!.entries()) {
        if ((status === 'qa' || status === 'done') && tokens[row] !== `by-${last.get(row)}`) {
          this.#violated(
            `${task} of row ${row + 1} is ${status} with the output ${tokens[row]}, not by-${last.get(row)}`,
          );
        }
      }
    }
  }

  /** Where a kill came between the last item and its lessons, nothing is left to learn for: then no agent is asked (rule M7). */
  #checkEnd(after: Board, hasEnded: boolean): void {
    for (const task of TASKS) {
      const lessons = new Set(stepsOf(this.#shift.task(task)));
      for (const [row, { kind }] of this.#rows.entries()) {
        const status = after.get(task)![row];
        if (status !== finalStatus(kind, task))
          this.#violated(`${task} of row ${row + 1} (${kind}) ended as ${status}`);
        const lesson = lessonOf(row, task);
        const isDue = status === 'done' && (hasEnded || task !== TASKS.at(-1));
        if (isDue && lesson && !lessons.has(lesson)) this.#violated(`lost: ${lesson}`);
      }
    }
    const failed = this.#rows.filter(({ kind }) => finalStatus(kind, TASKS[0]) === 'failed').length;
    const done = this.#rows.length - failed;
    const progress = `Total items: ${this.#rows.length}, Completed: ${done}, Failed: ${failed}, Remaining: 0`;
    const written = [...this.#shift.manager.matchAll(/^- ((?:Total items|Completed|Failed|Remaining): \d+)$/gm)];
    const found = written.map(([, text]) => text).join(', ');
    if (found !== progress) this.#violated(`Progress is ${found}, not ${progress}`);
    const folder = this.#shift.project.path(this.#shift.folder);
    const left = readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.nightshift-tmp'));
    if (left.length > 0) this.#violated(`left behind: ${left.join(', ')}`);
  }
}

/** What of manager.md no run may change. */
function skeleton(manager: string): string {
  return manager.replace(/(dispatch|current-batch-size|Total items|Completed|Failed|Remaining): \w+$/gm, '$1: N');
}

function withoutSteps(text: string): string {
  return text.replace(/(## Steps\n)[\s\S]*(?=\n## Validation)/, '$1');
}

function stepsOf(text: string): string[] {
  const steps = /## Steps\n([\s\S]*)\n## Validation/.exec(text)?.[1] ?? '';
  return [...steps.matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step!);
}
