import type { NightshiftEvent } from '../core/model/events.ts';

/** Shortens what was just printed: the reason of an attempt that failed like the one before. */
export class RepeatedReasons {
  /** By item-task: the reason of its last attempt. */
  readonly #last = new Map<string, string>();

  shorten(event: NightshiftEvent): NightshiftEvent {
    const name = `${event.task} ${event.item}`;
    if (event.type === 'item:recorded') this.#last.delete(name);
    if (event.type !== 'attempt:finished' || event.reason === undefined) return event;
    const isSame = this.#last.get(name) === event.reason;
    this.#last.set(name, event.reason);
    return isSame ? { ...event, reason: 'the same' } : event;
  }
}
