import type { ComponentChildren } from 'preact';
import type { Decisions, ShiftId } from '../../src/core/page/answers.ts';
import { ALL_ROWS } from '../state/place.ts';
import { amount } from './format.ts';
import { Link } from './link.tsx';
import { visibleText } from './visible-text.ts';

interface NeedsYouProps {
  readonly shift: ShiftId;
  readonly name: string;
  readonly decisions: Decisions;
}

/** What waits for a decision, besides failures, which have a place of their own. */
export function NeedsYou({ shift, name, decisions: { results, lessons, reverted } }: NeedsYouProps) {
  const parts: ComponentChildren[] = [];
  if (results > 0) {
    parts.push(
      <Link to={{ screen: 'grid', shift, query: { ...ALL_ROWS, status: ['held'] } }}>
        {amount(results, 'result')} to approve
      </Link>,
    );
  }
  if (lessons > 0) parts.push(<Link to={{ screen: 'steps', shift }}>{amount(lessons, 'lesson')} to decide</Link>);
  if (reverted.length > 0) {
    parts.push(
      <>
        reverted edits of {visibleText(reverted.join(', '))}: <code>nightshift accept {name}</code> shows them
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
