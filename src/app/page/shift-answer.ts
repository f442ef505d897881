import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { summariseProgress } from '../../core/folds/summary.ts';
import type { Decisions, FailureGroupSummary, GridColumns, ShiftAnswer } from '../../core/page/answers.ts';
import { describeStatus } from '../status.ts';
import type { Grid } from './grid.ts';
import type { RunState } from './live-run.ts';
import type { ShiftReading } from './shift-reader.ts';

const MOST_GROUPS = 50;
const EXAMPLE_ROWS = 5;

/** What the header of a shift shows. Its size does not depend on the number of rows. */
export async function answerShift(reading: ShiftReading, run: RunState | undefined, now: number): Promise<ShiftAnswer> {
  const { place, version, grid, isPartial } = reading;
  const { status, limits } = await statusOf(reading, now);
  const { sessions = [], finish, waiting, waitingForWorkers, draining } = run ?? {};
  return {
    id: place.id,
    isArchived: place.isArchived,
    version,
    ...(isPartial ? { isPartial } : {}),
    status,
    limits,
    groups: grid.groups.slice(0, MOST_GROUPS).map(describeGroup),
    groupsLeftOut: Math.max(0, grid.groups.length - MOST_GROUPS),
    rowCounts: grid.rowCounts,
    columns: columnsOf(reading),
    sessions,
    ...(finish ? { finish } : {}),
    ...(waiting ? { waiting } : {}),
    ...(waitingForWorkers === undefined ? {} : { waitingForWorkers }),
    ...(draining === undefined ? {} : { draining }),
    decisions: decisionsIn(reading, status),
    ...(existsSync(place.paths.report) ? { report: relative(place.paths.root, place.paths.report) } : {}),
  };
}

export function decisionsIn({ held }: ShiftReading, { learning, putBack }: ShiftAnswer['status']): Decisions {
  return { results: held.length, lessons: learning.states.held, reverted: putBack };
}

/** As `status` tells it, without the failures. */
export async function statusOf(reading: ShiftReading, now: number): Promise<Pick<ShiftAnswer, 'status' | 'limits'>> {
  const { place, snapshot, history } = reading;
  const summary = { ...summariseProgress(snapshot, history), failures: [] };
  const { status, limits } = await describeStatus({ ...reading, paths: place.paths, summary }, now);
  const { failures: _, ...rest } = status;
  return { status: rest, limits };
}

function describeGroup({ id, task, reason, rows }: Grid['groups'][number]): FailureGroupSummary {
  return { id, task, reason, items: rows.length, rows: rows.slice(0, EXAMPLE_ROWS).map((row) => row + 1) };
}

function columnsOf({ shift, snapshot, labels }: ShiftReading): GridColumns {
  const { tasks, header } = snapshot;
  const declared = new Set(shift.tasks.flatMap(({ settings }) => settings.outputs));
  const label = labels.columnOf(shift, snapshot);
  return {
    tasks,
    metadata: header.filter((name) => !tasks.includes(name) && !declared.has(name)),
    outputs: header.filter((name) => declared.has(name)),
    ...(label === undefined ? {} : { label }),
  };
}
