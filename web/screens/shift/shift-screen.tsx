import { useEffect } from 'preact/hooks';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { sessionsOf, ticksOf, useWhole } from '../../live/live.ts';
import { useFocus, useTitle } from '../../parts/document.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { Link } from '../../parts/link.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { ALL_ROWS, type Place } from '../../state/place.ts';
import { isShiftKnown } from '../../state/project.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { ChartsScreen } from '../charts/charts-screen.tsx';
import { EventsScreen } from '../events/events-screen.tsx';
import { GridScreen } from '../grid/grid-screen.tsx';
import { ItemScreen } from '../item/item-screen.tsx';
import { StepsScreen } from '../steps/steps-screen.tsx';
import { runState } from './run-state.ts';

type ShiftPlace = Exclude<Place, { screen: 'shifts' }>;

interface ShiftScreenProps {
  readonly place: ShiftPlace;
  readonly onHelp: () => void;
}

/** One shift: its state and the screens of it. */
export function ShiftScreen({ place, onHelp }: ShiftScreenProps) {
  const { shift: id } = place;
  const { value: shift, failure } = useAnswer<ShiftAnswer>(apiPath('shift', { shift: id }), ticksOf(id).value);
  useEffect(() => {
    if (!shift) return;
    sessionsOf(id).value = shift.sessions;
    isShiftKnown.value = true;
  }, [id, shift]);
  useWhole(id, shift);
  const name = shift?.status.shift ?? id;
  useTitle(`${name} - Nightshift`);
  useFocus(`${place.screen} ${'item' in place ? place.item : ''} ${shift !== undefined}`);
  const state = shift && runState(shift);
  return (
    <>
      <TopBar name={name} onHelp={onHelp}>
        {state && <span class={`state is-${state.kind}`}>{state.word}</span>}
        <nav class="tabs" aria-label="Screens of the shift">
          <Tab place={place} to={{ screen: 'grid', shift: id, query: 'query' in place ? place.query : ALL_ROWS }}>
            Grid
          </Tab>
          <Tab place={place} to={{ screen: 'steps', shift: id }}>
            Steps
          </Tab>
          <Tab place={place} to={{ screen: 'charts', shift: id }}>
            Charts
          </Tab>
          <Tab place={place} to={{ screen: 'events', shift: id }}>
            Events
          </Tab>
        </nav>
      </TopBar>
      <FailureNote failure={failure} />
      {shift?.isPartial && (
        <p class="partial" role="status">
          The journal is still being read: reasons, times and money are not complete yet.
        </p>
      )}
      {shift && <Content place={place} shift={shift} />}
    </>
  );
}

interface TabProps {
  readonly place: ShiftPlace;
  readonly to: ShiftPlace;
  readonly children: string;
}

function Tab({ place, to, children }: TabProps) {
  return (
    <Link to={to} isCurrent={place.screen === to.screen}>
      {children}
    </Link>
  );
}

function Content({ place, shift }: { readonly place: ShiftPlace; readonly shift: ShiftAnswer }) {
  switch (place.screen) {
    case 'grid':
      return <GridScreen place={place} shift={shift} />;
    case 'item':
      return <ItemScreen key={place.item} place={place} shift={shift} />;
    case 'steps':
      return <StepsScreen place={place} shift={shift} />;
    case 'charts':
      return <ChartsScreen shift={shift} />;
    case 'events':
      return <EventsScreen place={place} shift={shift} />;
  }
}
