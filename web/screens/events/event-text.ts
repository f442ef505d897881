import type { EventType, NightshiftEvent } from '../../../src/core/model/events.ts';
import { plainLines } from '../../../src/views/plain.ts';
import { durationText } from '../../parts/format.ts';

/** For the filter; the compiler knows when one is missing. */
const TYPES: Readonly<Record<EventType, true>> = {
  'run:started': true,
  'run:warning': true,
  'run:draining': true,
  'run:stopping': true,
  'run:paused': true,
  'run:resumed': true,
  'run:waiting': true,
  'run:finished': true,
  'task:paused': true,
  'batch:claimed': true,
  'batch:finished': true,
  'concurrency:changed': true,
  'dev:started': true,
  'dev:finished': true,
  'qa:started': true,
  'qa:finished': true,
  'attempt:finished': true,
  'workspace:opened': true,
  'verdict:voided': true,
  'delivery:finished': true,
  'usage:spent': true,
  'item:recorded': true,
  'item:returned': true,
  'item:withdrawn': true,
  'edit:reverted': true,
  'document:accepted': true,
  'table:edited': true,
  'table:grew': true,
  'steps:changed': true,
  'steps:kept': true,
  'fold:started': true,
  'fold:finished': true,
  'lesson:changed': true,
  'worker:joined': true,
  'worker:left': true,
  'worker:lost': true,
  'result:refused': true,
  'fleet:waiting': true,
  'fleet:ready': true,
  progress: true,
};

export const EVENT_TYPES = Object.keys(TYPES);

/** What every event has, what the other columns show, and what only programs read. */
const FRAME = 'at run seq elapsed shift type index label item task key version order n'.split(' ');

/** The words of the terminal; an event that it does not print, by its fields. */
export function eventText(event: NightshiftEvent): string {
  const [line] = plainLines(event, '');
  return line?.trim() ?? fieldsOf(event);
}

/** `agent claude, attempts 2`. */
function fieldsOf(event: NightshiftEvent): string {
  const fields = Object.entries(event).filter(([name, value]) => !FRAME.includes(name) && typeof value !== 'object');
  const task = event.task === undefined ? '' : `${event.task}: `;
  const texts = fields.flatMap(([name, value]) => (value === false ? [] : fieldText(name, value)));
  return `${task}${texts.join(', ')}`;
}

function fieldText(name: string, value: unknown): string {
  if (name === 'ms') return durationText(Number(value));
  if (name === 'reason') return String(value);
  if (name === 'worker') return `on ${value}`;
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return value === true ? words : `${words} ${value}`;
}

export function restOf(event: NightshiftEvent): string {
  return JSON.stringify(event, null, 2);
}
