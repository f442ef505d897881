import type { NightshiftEvent } from './events.ts';
import { STATUSES, type Status } from './status.ts';

/** The status that a withdrawn item was given; null: its row was removed. Before 1.0 only the reason told it. */
export function withdrawnTo({ to, reason }: Extract<NightshiftEvent, { type: 'item:withdrawn' }>): Status | null {
  if (to !== undefined) return to;
  return STATUSES.find((status) => reason.endsWith(` set it to ${status}`)) ?? null;
}
