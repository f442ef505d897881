import { useRef } from 'preact/hooks';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { amount } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { type EventsPlace, go } from '../../state/place.ts';
import { EventRow } from './event-row.tsx';
import { EVENT_TYPES } from './event-text.ts';
import { RowFilter } from './row-filter.tsx';
import { useJournal } from './use-journal.ts';

const NEAR_TOP_PX = 40;

interface EventsScreenProps {
  readonly place: EventsPlace;
  readonly shift: ShiftAnswer;
}

/** The journal, the latest first. */
export function EventsScreen({ place, shift }: EventsScreenProps) {
  const scroller = useRef<HTMLElement>(null);
  const isAtTop = () => (scroller.current?.scrollTop ?? 0) < NEAR_TOP_PX;
  const { events, hasMore, failure, waiting, loadMore } = useJournal(place, isAtTop);
  const set = (change: Partial<EventsPlace>) => go({ ...place, ...change }, 'replace');
  const select = (label: string, name: 'type' | 'task', values: readonly string[]) => (
    <select
      aria-label={label}
      value={place[name] ?? ''}
      onChange={(event) => set({ [name]: event.currentTarget.value || undefined })}
    >
      <option value="">any {name}</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {visibleText(value)}
        </option>
      ))}
    </select>
  );
  return (
    <main class="scroller" ref={scroller} tabIndex={0} aria-label="Events">
      <div class="filters filter-fields">
        {select('Type of event', 'type', EVENT_TYPES)}
        {select('Task', 'task', shift.columns.tasks)}
        <RowFilter place={place} onChoose={(item) => set({ item })} />
        {waiting > 0 && (
          <button type="button" class="chip" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
            {amount(waiting, 'new event')}
          </button>
        )}
      </div>
      <FailureNote failure={failure} />
      <table class="events">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col">Row</th>
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {events.map(({ position, event }) => (
            <EventRow key={position} event={event} place={place} />
          ))}
        </tbody>
      </table>
      {events.length === 0 && !hasMore && <p class="empty">No event matches.</p>}
      {hasMore && (
        <button type="button" class="more" onClick={loadMore}>
          Earlier events
        </button>
      )}
    </main>
  );
}
