import type { LessonRecord, LessonState } from '../../../src/core/learning/lesson.ts';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { StepsAnswer } from '../../../src/core/page/history-answers.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ALL_ROWS } from '../../state/place.ts';
import { mayAct } from '../../state/project.ts';

/** What needs a person first. */
const ORDER: readonly LessonState[] = ['held', 'firm', 'pinned', 'waiting', 'retired', 'banned'];

const MEANINGS: Readonly<Record<LessonState, string>> = {
  held: 'needs you',
  firm: 'in the Steps',
  pinned: 'in the Steps, pinned',
  waiting: 'waits for more rows',
  retired: 'retired',
  banned: 'banned',
};

type Decision = 'accept' | 'reject' | 'pin' | 'ban' | 'undo';

const TITLES: Readonly<Record<Decision, string>> = {
  accept: 'Accept',
  reject: 'Reject',
  pin: 'Pin',
  ban: 'Ban',
  undo: 'Undo',
};

const EFFECTS: Readonly<Record<Decision, string>> = {
  accept: 'Adds it to the Steps',
  reject: 'Keeps it out of the Steps, for good',
  pin: 'Keeps it in the Steps, whatever agents say about it',
  ban: 'Removes it from the Steps, for good',
  undo: 'Goes back to the state before the last change',
};

const DECISIONS: Readonly<Record<LessonState, readonly Decision[]>> = {
  held: ['accept', 'reject'],
  firm: ['pin', 'ban'],
  pinned: ['ban'],
  waiting: ['accept', 'reject'],
  retired: ['accept', 'ban'],
  banned: [],
};

interface LessonsProps {
  readonly shift: ShiftAnswer;
  readonly steps: StepsAnswer;
}

export function Lessons({ shift, steps }: LessonsProps) {
  const lessons = [...steps.lessons].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  return (
    <section aria-labelledby="lessons">
      <h2 id="lessons">Lessons</h2>
      {steps.effect.map((line) => (
        <p key={line} class="effect">
          {visibleText(line.trim())}
        </p>
      ))}
      {lessons.length === 0 ? (
        <p class="dim">No lesson yet.</p>
      ) : (
        <ul class="lessons">
          {lessons.map((lesson) => (
            <Lesson key={lesson.id} shift={shift} lesson={lesson} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Lesson({ shift, lesson }: { readonly shift: ShiftAnswer; readonly lesson: LessonRecord }) {
  const { id, state, text, support, credit, blame, reason, from, previous } = lesson;
  const decisions = previous === undefined ? DECISIONS[state] : [...DECISIONS[state], 'undo' as const];
  const decide = (decision: Decision) => {
    const title = `${TITLES[decision]} lesson ${id}`;
    requestAction({ shift: shift.id, title, action: { verb: 'lesson', decision, ids: [id] } });
  };
  return (
    <li class={`lesson is-${state}`}>
      <div>
        <p>
          <span class="dim">{id}</span> <span class={`tag is-${state}`}>{MEANINGS[state]}</span> {visibleText(text)}
        </p>
        <ul class="facts dim">
          {reason !== undefined && <li>{visibleText(reason)}</li>}
          <Rows shift={shift.id} title="recommended by" votes={support} />
          <Rows shift={shift.id} title="helped" votes={credit} />
          <Rows shift={shift.id} title="harmed" votes={blame} />
          {from !== undefined && <li>from the shift {visibleText(from)}</li>}
        </ul>
      </div>
      {mayAct(shift) && (
        <div class="buttons">
          {decisions.map((decision) => (
            <button key={decision} type="button" title={EFFECTS[decision]} onClick={() => decide(decision)}>
              {TITLES[decision]}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}

const ROWS_SHOWN = 8;

interface RowsProps {
  readonly shift: string;
  readonly title: string;
  readonly votes: readonly { readonly item: string; readonly row: number }[];
}

/** `recommended by rows 3, 7`, each a link to the item. */
function Rows({ shift, title, votes }: RowsProps) {
  if (votes.length === 0) return null;
  const more = votes.length - ROWS_SHOWN;
  return (
    <li>
      {title} {votes.length === 1 ? 'row' : 'rows'}{' '}
      {votes.slice(0, ROWS_SHOWN).map(({ item, row }, number) => (
        <span key={item}>
          {number > 0 && ', '}
          <Link to={{ screen: 'item', shift, item, query: ALL_ROWS }}>{row}</Link>
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </li>
  );
}
