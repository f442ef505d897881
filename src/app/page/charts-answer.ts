import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Charts } from '../../core/folds/charts.ts';
import { firstAttemptsOf } from '../../core/folds/learning.ts';
import { addAmounts, rest } from '../../core/model/usage.ts';
import type { ChartItem, ChartsAnswer } from '../../core/page/history-answers.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import type { ShiftReading } from './shift-reader.ts';

const MOST_ITEMS = 2000;
/** The slowest and the dearest item-tasks are always there: people look for them. */
const EXTREMES = 100;
const PART_ROWS = 2000;

/** What charts are drawn from, besides the journal. */
type Read = Pick<ShiftReading, 'snapshot' | 'history' | 'isPartial'>;

const known = new WeakMap<Read, Promise<FromTable>>();

export async function answerCharts(reading: Read, charts: Charts, isPartial: boolean): Promise<ChartsAnswer> {
  let fromTable = known.get(reading);
  if (!fromTable) {
    fromTable = readTable(reading);
    known.set(reading, fromTable);
  }
  const { spend } = charts;
  const told = spend.reduce((all, { usage }) => addAmounts(all, usage), {});
  // What the journal has lost is in its checkpoints, or in the ledger.
  const untold = isPartial ? undefined : rest(reading.history.usage, told);
  return {
    isPartial: isPartial || reading.isPartial,
    runs: charts.runs.map(({ run: _, ...times }) => times),
    burnDown: charts.burnDown.points,
    concurrency: charts.concurrency,
    ...(await fromTable),
    spend: untold ? [...spend, { role: 'unknown', agent: 'unknown', usage: untold }] : spend,
  };
}

type FromTable = Pick<ChartsAnswer, 'items' | 'itemsLeftOut' | 'firstAttempts'>;

async function readTable(reading: Read): Promise<FromTable> {
  const { snapshot, history } = reading;
  const ended = await findEnded(reading);
  const chosen = sample(ended);
  return {
    items: chosen.flatMap((at) => itemAt(reading, ended, at) ?? []),
    itemsLeftOut: ended.cells.length - chosen.length,
    firstAttempts: snapshot.tasks.map((task) => ({
      task,
      tenths:
        firstAttemptsOf(task, { items: snapshot, history })?.map(({ of: ended, succeeded }) => ({
          succeeded,
          ended,
        })) ?? null,
    })),
  };
}

/** The item-tasks that are over and whose time is known, in flat arrays: row and task as one number. */
interface EndedCells {
  readonly cells: readonly number[];
  readonly ms: Float64Array;
  readonly cost: Float64Array;
}

async function findEnded({ snapshot, history }: Read): Promise<EndedCells> {
  const { count, tasks } = snapshot;
  const [cells, ms, cost]: [number[], number[], number[]] = [[], [], []];
  for (let row = 0; row < count; row++) {
    if (row % PART_ROWS === PART_ROWS - 1) await nextTurn();
    const item = snapshot.id(row);
    for (const [i, task] of tasks.entries()) {
      const past = history.of(task, item);
      if (!past?.dev || !['done', 'failed'].includes(statusAt(snapshot, row, i))) continue;
      cells.push(row * tasks.length + i);
      ms.push(past.dev.ms);
      cost.push(past.usage.costUsd ?? 0);
    }
  }
  return { cells, ms: Float64Array.from(ms), cost: Float64Array.from(cost) };
}

/** Positions in the arrays: extremes, and the others at equal distances. */
function sample({ cells, ms, cost }: EndedCells): number[] {
  const all = cells.map((_, at) => at);
  if (all.length <= MOST_ITEMS) return all;
  const chosen = new Set([...largest(ms), ...largest(cost)]);
  const others = all.filter((at) => !chosen.has(at));
  const wanted = MOST_ITEMS - chosen.size;
  for (let i = 0; i < wanted; i++) chosen.add(others[Math.floor((i * others.length) / wanted)]!);
  return [...chosen].sort((a, b) => a - b);
}

function largest(values: Float64Array): number[] {
  const least = values.slice().sort().at(-EXTREMES) ?? 0;
  const found: number[] = [];
  for (let at = 0; at < values.length && found.length < EXTREMES; at++) {
    if (values[at]! >= least && values[at]! > 0) found.push(at);
  }
  return found;
}

/** Undefined if it has begun again meanwhile. */
function itemAt({ snapshot, history }: Read, { cells, ms }: EndedCells, at: number): ChartItem | undefined {
  const { tasks } = snapshot;
  const [row, i] = [Math.floor(cells[at]! / tasks.length), cells[at]! % tasks.length];
  const item = snapshot.id(row);
  const task = tasks[i]!;
  const past = history.of(task, item);
  const endedAt = past?.qa?.at ?? past?.dev?.at;
  if (endedAt === undefined) return undefined;
  const costUsd = past?.usage.costUsd;
  return {
    ...{ row: row + 1, item, task, status: statusAt(snapshot, row, i) },
    at: endedAt,
    ms: ms[at]!,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}
