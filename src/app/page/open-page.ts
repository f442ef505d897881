import type { ShiftId } from '../../core/page/answers.ts';
import type { World } from '../world.ts';
import { act } from './actions.ts';
import { answerCharts } from './charts-answer.ts';
import { answerDiff, answerItem } from './item-answer.ts';
import { answerJournal } from './journal-answer.ts';
import { OpenedShift, requireRow } from './opened-shift.ts';
import type { Page } from './page.ts';
import { answerRows } from './row-window.ts';
import { answerShift } from './shift-answer.ts';
import { ShiftCards } from './shift-cards.ts';
import { answerSteps, answerStepsDiff } from './steps-answer.ts';
import { streamShifts } from './stream.ts';
import { answerEntry, answerTranscript, findInTranscript } from './transcript-answer.ts';

/** Each keeps its table and its history in memory. */
const MOST_OPEN = 4;

/** `root`: the folder with `.nightshift`. Opens nothing yet. */
export function openPage(world: World, root: string): Page {
  const closed = new AbortController();
  const shifts = new OpenShifts(world, root, closed.signal);
  const { now } = world;
  const cards = new ShiftCards(root, { keep: (id) => shifts.open(id), visit: (id) => shifts.visit(id), now });
  const read = (id: ShiftId) => shifts.open(id).read();
  return {
    project: async () => ({ root, shifts: await cards.all() }),
    shift: async (id) => answerShift(await read(id), await shifts.open(id).runState(), now()),
    rows: async (id, query, span) => answerRows(await read(id), query, span),
    item: async (id, name) => {
      const reading = await read(id);
      const run = await shifts.open(id).runState();
      return answerItem(world, reading, requireRow(reading, name), run?.sessions ?? []);
    },
    diff: async (id, name) => {
      const reading = await read(id);
      return answerDiff(world, reading, requireRow(reading, name));
    },
    transcript: async (id, session, part) => answerTranscript(await read(id), session, part),
    entry: async (id, session, offset) => answerEntry(await read(id), session, offset),
    find: async (id, session, text, signal) => findInTranscript(await read(id), session, text, signal),
    steps: async (id, task) => answerSteps(await read(id), task, now()),
    stepsDiff: async (id, task, versions) => answerStepsDiff(await read(id), task, versions),
    charts: async (id) => {
      const { charts, isPartial } = await shifts.open(id).charts();
      return answerCharts(await read(id), charts, isPartial);
    },
    journal: async (id, filter) => answerJournal(shifts.open(id).reader.place.paths.journal, filter),
    act: (request) => act(world, shifts.open(request.shift), request),
    stream: (ids, after, signal) => {
      const either = AbortSignal.any([signal, closed.signal]);
      return streamShifts({ ids, after, signal: either, open: (id) => shifts.open(id), now });
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
    },
  };
}

/** The shifts that the page looks at. Those that nobody has asked for lately are closed. */
class OpenShifts {
  readonly #world: World;
  readonly #root: string;
  readonly #closed: AbortSignal;
  /** The one that was used last is the last. */
  readonly #open = new Map<ShiftId, OpenedShift>();

  constructor(world: World, root: string, closed: AbortSignal) {
    this.#world = world;
    this.#root = root;
    this.#closed = closed;
  }

  open(id: ShiftId): OpenedShift {
    const shift = this.visit(id);
    this.#open.delete(id);
    this.#open.set(id, shift);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MOST_OPEN) break;
      this.#open.delete(oldest);
    }
    return shift;
  }

  /** The same without keeping it. */
  visit(id: ShiftId): OpenedShift {
    return this.#open.get(id) ?? new OpenedShift(this.#world, this.#root, id, this.#closed);
  }
}
