import { useEffect, useRef, useState } from 'preact/hooks';
import type { NightshiftEvent } from '../../../src/core/model/events.ts';
import type { JournalAnswer } from '../../../src/core/page/history-answers.ts';
import { onEvent } from '../../live/live.ts';
import type { EventsPlace } from '../../state/place.ts';
import { apiPath, ask, type Failure } from '../../state/request.ts';

type Known = JournalAnswer['events'];

/** More are dropped at the end that is out of sight. */
const MOST_EVENTS = 2000;

/** Pages of the journal, with new events added as they happen. */
export function useJournal({ shift, type, task, item }: EventsPlace) {
  const [events, setEvents] = useState<Known>([]);
  const [before, setBefore] = useState<string>();
  const [failure, setFailure] = useState<Failure>();
  const abort = useRef(new AbortController());

  const load = async (cursor: string | undefined) => {
    const { signal } = abort.current;
    const reply = await ask<JournalAnswer>(apiPath('journal', { shift, type, task, item, before: cursor }), signal);
    if (reply === undefined) return;
    setFailure('failure' in reply ? reply.failure : undefined);
    if ('failure' in reply) return;
    const { events: page, before: next } = reply.value;
    setBefore(next);
    // Those that happened during the request may be in both.
    setEvents((known) => (cursor === undefined ? merge(known, page) : [...known, ...page]));
  };

  // `load` depends on nothing else
  useEffect(() => {
    abort.current = new AbortController();
    const started = abort.current;
    setEvents([]);
    const isWanted = (event: NightshiftEvent) =>
      (type ?? event.type) === event.type && (task ?? event.task) === event.task && (item ?? event.item) === event.item;
    const stop = onEvent((from, event) => {
      if (from !== shift || !isWanted(event)) return;
      setEvents((known) => merge([{ position: keyOf(event), event }], known).slice(0, MOST_EVENTS));
    });
    void load(undefined);
    return () => {
      stop();
      started.abort();
    };
  }, [shift, type, task, item]);

  return { events, hasMore: before !== undefined, failure, loadMore: () => void load(before) };
}

function merge(newer: Known, older: Known): Known {
  const known = new Set(newer.map(({ event }) => keyOf(event)));
  return [...newer, ...older.filter(({ event }) => !known.has(keyOf(event)))];
}

/** Commands that are no run write events too, all with the same `seq`. */
function keyOf({ run, seq, at, type }: NightshiftEvent): string {
  return `${run} ${seq} ${at} ${type}`;
}
