import type { ComponentChildren } from 'preact';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { amount } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ALL_ROWS } from '../../state/place.ts';

/** What waits for a decision, besides failures, which the grid lists. */
export function NeedsYou({ shift: { id, held, status } }: { readonly shift: ShiftAnswer }) {
  const { learning, putBack } = status;
  const { held: lessons } = learning.states;
  const parts: ComponentChildren[] = [];
  if (held > 0) {
    parts.push(
      <Link to={{ screen: 'grid', shift: id, query: { ...ALL_ROWS, status: ['held'] } }}>
        {amount(held, 'result')} to approve
      </Link>,
    );
  }
  if (lessons > 0) parts.push(<Link to={{ screen: 'steps', shift: id }}>{amount(lessons, 'lesson')} to decide</Link>);
  if (putBack.length > 0) {
    parts.push(
      <>
        reverted edits of {visibleText(putBack.join(', '))}: <code>nightshift accept {status.shift}</code> shows them
      </>,
    );
  }
  if (parts.length === 0) return null;
  return (
    <ul class="needs-you" aria-label="Needs you">
      {parts.map((part, number) => (
        <li key={String(number)}>{part}</li>
      ))}
    </ul>
  );
}
