import type { NightshiftEvent } from './events.ts';
import { STATUSES, type Status } from './status.ts';

/** Events that had another name before 1.0: the new name by the old one. */
const RENAMED: Names = { 'limit:changed': 'concurrency:changed' };

type Names = Readonly<Record<string, string>>;

const FAILURE_POINT: Names = { place: 'failurePoint', places: 'failurePoints' };
const RUNNING_ITEMS: Names = { inFlight: 'runningItems' };

/** Fields that had another name before 1.0, by the type of their event. */
const FIELDS: Readonly<Record<string, Names>> = {
  'dev:finished': FAILURE_POINT,
  'qa:finished': FAILURE_POINT,
  'task:paused': FAILURE_POINT,
  'edit:reverted': RUNNING_ITEMS,
};

/** A line of a journal with the names of today. */
export function withCurrentNames(line: unknown): unknown {
  if (!isRecord(line) || typeof line.type !== 'string') return line;
  if (Object.hasOwn(RENAMED, line.type)) return { ...line, type: RENAMED[line.type] };
  if (line.type === 'checkpoint:started') return withCurrentTally(line);
  return Object.hasOwn(FIELDS, line.type) ? rename(line, FIELDS[line.type]!) : line;
}

function withCurrentTally({ tally, lastRun, ...line }: Record<string, unknown>): Record<string, unknown> {
  const edits = isRecord(lastRun) && Array.isArray(lastRun.edits) ? { edits: renameAll(lastRun.edits) } : {};
  return {
    ...line,
    ...(tally === undefined ? {} : { tally: renameAll(tally) }),
    ...(lastRun === undefined ? {} : { lastRun: isRecord(lastRun) ? { ...lastRun, ...edits } : lastRun }),
  };
}

/** Also in what is inside. */
function renameAll(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameAll);
  if (!isRecord(value)) return value;
  const renamed = rename(value, { ...FAILURE_POINT, ...RUNNING_ITEMS });
  return Object.fromEntries(Object.entries(renamed).map(([name, each]) => [name, renameAll(each)]));
}

/** The same object if it has none of the older names: journals have millions of lines. */
function rename(value: Record<string, unknown>, names: Names): Record<string, unknown> {
  if (!Object.keys(names).some((name) => Object.hasOwn(value, name))) return value;
  const nameOf = (name: string) => (Object.hasOwn(names, name) ? names[name]! : name);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [nameOf(name), each]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The status that a withdrawn item was given; null: its row was removed. Before 1.0 only the reason told it. */
export function withdrawnTo({ to, reason }: Extract<NightshiftEvent, { type: 'item:withdrawn' }>): Status | null {
  if (to !== undefined) return to;
  return STATUSES.find((status) => reason.endsWith(` set it to ${status}`)) ?? null;
}
