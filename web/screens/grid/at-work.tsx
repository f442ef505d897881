import type { SessionAnswer, ShiftAnswer } from '../../../src/core/page/answers.ts';
import { sessionsOf } from '../../live/live.ts';
import { elapsedText, wholeNumber } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import type { ItemPlace } from '../../state/place.ts';

const SHOWN = 6;

export const PACE_TEXTS = { usual: '', slow: 'slow', stalled: 'no sign of life' } as const;

interface AtWorkProps {
  readonly shift: ShiftAnswer;
  readonly itemPlace: (item: string) => ItemPlace;
}

/** The sessions that run now; those that need attention first. */
export function AtWork({ shift, itemPlace }: AtWorkProps) {
  const sessions = sessionsOf(shift.id).value;
  if (sessions.length === 0) return null;
  const urgent = (session: SessionAnswer) => ['stalled', 'slow', 'usual'].indexOf(session.pace);
  const sorted = [...sessions].sort((a, b) => urgent(a) - urgent(b) || a.since.localeCompare(b.since));
  const hasTasks = shift.columns.tasks.length > 1;
  return (
    <section class="panel" aria-labelledby="at-work">
      <h2 id="at-work">{wholeNumber(sessions.length)} at work</h2>
      <ul class="sessions">
        {sorted.slice(0, SHOWN).map((session) => (
          <Session
            key={`${session.task} ${session.item}`}
            session={session}
            hasTasks={hasTasks}
            to={itemPlace(session.item)}
          />
        ))}
      </ul>
      {sessions.length > SHOWN && <p class="dim">and {wholeNumber(sessions.length - SHOWN)} more</p>}
    </section>
  );
}

interface SessionProps {
  readonly session: SessionAnswer;
  readonly hasTasks: boolean;
  readonly to: ItemPlace;
}

function Session({ session, hasTasks, to }: SessionProps) {
  const { row, label, task, role, attempt, maxAttempts, since, pace, doing, worker } = session;
  const retry = attempt > 1 ? `attempt ${attempt} of ${maxAttempts}` : '';
  const place = worker === undefined ? '' : `on ${worker}`;
  const what = [hasTasks ? task : '', role, retry, place].filter((text) => text !== '').join(', ');
  return (
    <li>
      <Link to={{ ...to, task, role }} class="session-name">
        <span class="dim">{row}</span> {visibleText(label ?? '')}
      </Link>
      <span class="dim session-what">{visibleText(what)}</span>
      <span class="session-doing">{visibleText(doing ?? '')}</span>
      {pace !== 'usual' && <span class="text-warning">{PACE_TEXTS[pace]}</span>}
      <span class="dim number session-time">{elapsedText(since)}</span>
    </li>
  );
}
