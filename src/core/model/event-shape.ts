import type { NightshiftEvent } from './events.ts';

/** The fields that readers of the journal rely on, by type; other types are not read. */
const NEEDED: Partial<Record<NightshiftEvent['type'], Record<string, (value: unknown) => boolean>>> = {
  'run:started': { flags: isAbsentOr(isTexts) },
  'run:finished': { exitCode: isNumber, reason: isText, error: isAbsentOr(isText), left: isAbsentOr(isNumber) },
  'dev:started': { key: isText },
  'attempt:finished': { status: isText, votes: isAbsentOr(isVotes) },
  'dev:finished': {
    status: isText,
    attempts: isNumber,
    ms: isNumber,
    key: isText,
    recommendations: isAbsentOr(isTexts),
  },
  'qa:finished': { status: isText, verdicts: Array.isArray, votes: isAbsentOr(isVotes) },
  'item:withdrawn': { reason: isText, to: isAbsentOr((value) => value === null || isText(value)) },
  'usage:spent': { usage: isUsage },
  'steps:changed': {
    to: isText,
    summary: isText,
    lessons: Array.isArray,
    considered: isTexts,
    counted: isAbsentOr(isCounted),
  },
  'steps:kept': { considered: isTexts, counted: isAbsentOr(isCounted) },
  'lesson:changed': { id: isText, to: isText },
  'worker:joined': { worker: isText, slots: isNumber },
  'worker:left': { worker: isText },
  'worker:lost': { worker: isText, running: isNumber },
  'result:refused': { worker: isText, reason: isText },
  'fleet:waiting': { reason: isText },
  'fleet:ready': { slots: isNumber },
  progress: { itemTasks: isAbsentOr(isObject) },
  'edit:reverted': { file: isText, what: isText, runningItems: isAbsentOr(isItems) },
  'table:edited': {
    changes: (value) => Array.isArray(value) && value.every(isCellEdit),
    retry: isAbsentOr(isTexts),
    columns: isAbsentOr((value) => Array.isArray(value) && value.every(isColumnChange)),
  },
};

/** Any program can write to the journal: a line that is damaged or not ours is skipped. */
export function isReadable(line: unknown): line is NightshiftEvent {
  if (!isObject(line) || !isText(line.type) || !isText(line.at)) return false;
  const needed = NEEDED[line.type as NightshiftEvent['type']] ?? {};
  return Object.entries(needed).every(([name, fits]) => fits(line[name]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isAbsentOr(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || fits(value);
}

/** Negative amounts would undo what was spent. */
function isUsage(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((amount) => typeof amount === 'number' && amount >= 0);
}

function isVotes(value: unknown): boolean {
  return Array.isArray(value) && value.every(isVote);
}

function isVote(value: unknown): boolean {
  return isObject(value) && isText(value.lesson) && isText(value.effect) && isText(value.reason);
}

/** Older journals list the items. */
function isCounted(value: unknown): boolean {
  return isTexts(value) || (isObject(value) && Object.values(value).every(isNumber));
}

function isItems(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => isObject(each) && isNumber(each.index));
}

function isCellEdit(value: unknown): boolean {
  return isObject(value) && isText(value.item) && isText(value.column) && isText(value.to);
}

function isColumnChange(value: unknown): boolean {
  if (!isObject(value) || !isText(value.name)) return false;
  if (value.kind === 'add') return isText(value.value);
  return value.kind === 'rename' ? isText(value.to) : value.kind === 'drop';
}
