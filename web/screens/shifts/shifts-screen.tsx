import type { ShiftCard } from '../../../src/core/page/answers.ts';
import { useFocus, useTitle } from '../../parts/document.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { costText, dollars, finishText, timeText, wholeNumber } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { NeedsYou } from '../../parts/needs-you.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TopBar } from '../../parts/top-bar.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ALL_ROWS } from '../../state/place.ts';
import { project } from '../../state/project.ts';
import type { Failure } from '../../state/request.ts';

interface ShiftsScreenProps {
  readonly failure: Failure | undefined;
  readonly onHelp: () => void;
}

export function ShiftsScreen({ failure, onHelp }: ShiftsScreenProps) {
  const known = project.value;
  useTitle('Nightshift');
  useFocus('');
  const current = known?.shifts.filter(({ isArchived }) => !isArchived) ?? [];
  const archived = known?.shifts.filter(({ isArchived }) => isArchived) ?? [];
  return (
    <>
      <TopBar onHelp={onHelp} />
      <main class="scroller" tabIndex={0} aria-label="Shifts">
        <div class="column">
          <h1 class="root">{visibleText(known?.root ?? '')}</h1>
          <FailureNote failure={failure} />
          {known && current.length === 0 && <p>No shift yet. `nightshift create` makes one.</p>}
          {current.length > 0 && <ShiftTable title="Shifts" shifts={current} />}
          {archived.length > 0 && <ShiftTable title="Archived" shifts={archived} />}
        </div>
      </main>
    </>
  );
}

function ShiftTable({ title, shifts }: { readonly title: string; readonly shifts: readonly ShiftCard[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul class="cards">
        {shifts.map((shift) => (
          <Card key={shift.id} shift={shift} />
        ))}
      </ul>
    </section>
  );
}

function Card({ shift }: { readonly shift: ShiftCard }) {
  const { id, name, isArchived, counts, usage, maxCostUsd, decisions, problem } = shift;
  const cost = usage && costText(usage);
  const limit = maxCostUsd === undefined ? '' : ` of ${dollars(maxCostUsd)}`;
  return (
    <li class="card">
      <div class="card-head">
        <Link to={{ screen: 'grid', shift: id, query: ALL_ROWS }} class="card-name">
          {visibleText(name)}
        </Link>
        <State shift={shift} />
        <span class="spring" />
        {(cost !== undefined || limit !== '') && (
          <span class="number">
            {cost ?? dollars(0)}
            {limit}
          </span>
        )}
      </div>
      {counts && (
        <div class="card-progress">
          <ProgressBar counts={counts} />
          <span>
            <b>{wholeNumber(counts.completed)}</b> done
            {counts.failed > 0 && (
              <>
                , <b class="text-failed">{wholeNumber(counts.failed)}</b> failed
              </>
            )}
            , <b>{wholeNumber(counts.remaining)}</b> left
          </span>
        </div>
      )}
      {decisions && !isArchived && <NeedsYou shift={id} name={name} decisions={decisions} />}
      {problem === undefined ? <Reason shift={shift} /> : <p class="text-failed">{visibleText(problem)}</p>}
    </li>
  );
}

function State({ shift }: { readonly shift: ShiftCard }) {
  const { runningSince, pausedSince, waitingUntil, finish } = shift;
  if (pausedSince !== undefined) return <span class="state is-waiting">paused since {timeText(pausedSince)}</span>;
  if (waitingUntil !== undefined) return <span class="state is-waiting">waiting until {timeText(waitingUntil)}</span>;
  if (runningSince === undefined) return null;
  const end = finish ? `, ends ${finishText(finish)}` : '';
  return (
    <span class="state is-running">
      running since {timeText(runningSince)}
      {end}
    </span>
  );
}

function Reason({ shift: { lastReason, lastAt } }: { readonly shift: ShiftCard }) {
  if (lastReason === undefined) return null;
  return (
    <p class="card-reason">
      {lastAt !== undefined && <span class="dim">{timeText(lastAt)} </span>}
      {visibleText(lastReason)}
    </p>
  );
}
