import type { NightshiftEvent } from './events.ts';
import { STATUSES, type Status } from './status.ts';

/** Events that had another name before 1.0: the new name by the old one. */
const RENAMED: Readonly<Record<string, NightshiftEvent['type']>> = { 'limit:changed': 'concurrency:changed' };

/** A line of a journal under the name that its event has today. */
export function withCurrentName<T extends { readonly type: string }>(event: T): T {
  const type = Object.hasOwn(RENAMED, event.type) ? RENAMED[event.type] : undefined;
  return type === undefined ? event : { ...event, type };
}

/** The status that a withdrawn item was given; null: its row was removed. Before 1.0 only the reason told it. */
export function withdrawnTo({ to, reason }: Extract<NightshiftEvent, { type: 'item:withdrawn' }>): Status | null {
  if (to !== undefined) return to;
  return STATUSES.find((status) => reason.endsWith(` set it to ${status}`)) ?? null;
}
