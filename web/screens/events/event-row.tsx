import type { NightshiftEvent } from '../../../src/core/model/events.ts';
import { timeText } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ALL_ROWS, type EventsPlace } from '../../state/place.ts';
import { eventText, restOf } from './event-text.ts';

/** One event in a line; all of it as it is in the journal below. */
export function EventRow({ event, place }: { readonly event: NightshiftEvent; readonly place: EventsPlace }) {
  const { at, type, task, index, item, label } = event;
  const row = index === undefined ? '' : `${index + 1} ${label ?? ''}`;
  return (
    <tr class={`event is-${type.split(':')[0]}`}>
      <td class="event-time">
        <time dateTime={at} title={at}>
          {timeText(at)}
        </time>
      </td>
      <td class="event-type">{visibleText(type)}</td>
      <td class="event-row">
        {item === undefined ? (
          row
        ) : (
          <Link to={{ screen: 'item', shift: place.shift, item, query: ALL_ROWS, task }}>
            {visibleText(row || item)}
          </Link>
        )}
        {item !== undefined && place.item === undefined && (
          <Link to={{ ...place, item }} class="quiet-link" title="Only events of this row">
            only
          </Link>
        )}
      </td>
      <td>
        <details>
          <summary>{visibleText(eventText(event)) || <span class="dim">details</span>}</summary>
          <pre>{visibleText(restOf(event))}</pre>
        </details>
      </td>
    </tr>
  );
}
