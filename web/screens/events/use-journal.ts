import { useEffect, useRef, useState } from 'preact/hooks';
import type { NightshiftEvent } from '../../../src/core/model/events.ts';
import type { JournalAnswer } from '../../../src/core/page/history-answers.ts';
import { onEvent } from '../../live/live.ts';
import type { EventsPlace } from '../../state/place.ts';
import { apiPath, ask, type Failure } from '../../state/request.ts';

type Known = JournalAnswer['events'];

/** With more than this, the list begins anew with the latest page. */
const MOST_EVENTS = 2000;
/** A quick run has many events in a second: the table is drawn for all of them together. */
const TOGETHER_MS = 300;

export interface Journal {
  readonly events: Known;
  readonly hasMore: boolean;
  readonly failure: Failure | undefined;
  /** Events that happened while the user reads further down. */
  readonly waiting: number;
  loadMore(): void;
}

/**
 * Pages of the journal, the latest first. New events are added as they happen, but only while the beginning is visible:
 * what one reads does not move.
 */
export function useJournal({ shift, type, task, item }: EventsPlace, isAtTop: () => boolean): Journal {
  const [events, setEvents] = useState<Known>([]);
  const [before, setBefore] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const [waiting, setWaiting] = useState(0);
  const abort = useRef(new AbortController());

  const load = async (cursor: string | undefined) => {
    const path = apiPath('journal', { shift, type, task, item, before: cursor });
    const reply = await ask<JournalAnswer>(path, abort.current.signal);
    if (reply === undefined) return;
    setFailure('failure' in reply ? reply.failure : undefined);
    if ('failure' in reply) return;
    setBefore(reply.value.before);
    setEvents((known) => (cursor === undefined ? reply.value.events : [...known, ...reply.value.events]));
  };

  useEffect(() => {
    abort.current = new AbortController();
    const started = abort.current;
    const live = new LiveEvents((newer) => {
      setWaiting(isAtTop() ? 0 : newer.length);
      if (!isAtTop()) return false;
      setEvents((known) => {
        if (known.length + newer.length > MOST_EVENTS) void load(undefined);
        return merge(newer, known);
      });
      return true;
    });
    const isWanted = (event: NightshiftEvent) =>
      (type ?? event.type) === event.type && (task ?? event.task) === event.task && (item ?? event.item) === event.item;
    const stop = onEvent((from, event) => from === shift && isWanted(event) && live.add(event));
    setEvents([]);
    void load(undefined);
    return () => {
      stop();
      live.stop();
      started.abort();
    };
  }, [shift, type, task, item]);

  return { events, hasMore: before !== undefined, failure, waiting, loadMore: () => void load(before) };
}

/** Collects events and hands them on together, as soon as they are taken. */
class LiveEvents {
  readonly #take: (newer: Known) => boolean;
  #heard: Known = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(take: (newer: Known) => boolean) {
    this.#take = take;
  }

  add(event: NightshiftEvent): void {
    this.#heard = [{ position: keyOf(event), event }, ...this.#heard].slice(0, MOST_EVENTS);
    this.#timer ??= setTimeout(() => this.#flush(), TOGETHER_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    const isTaken = this.#take(this.#heard);
    if (isTaken) this.#heard = [];
    this.#timer = isTaken ? undefined : setTimeout(() => this.#flush(), TOGETHER_MS);
  }
}

/** Those that happened during a request may be in both. */
function merge(newer: Known, older: Known): Known {
  const known = new Set(older.map(({ event }) => keyOf(event)));
  return [...newer.filter(({ event }) => !known.has(keyOf(event))), ...older];
}

/** Commands that are no run write events too, all with the same `seq`. */
function keyOf({ run, seq, at, type }: NightshiftEvent): string {
  return `${run} ${seq} ${at} ${type}`;
}
