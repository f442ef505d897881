import { useEffect, useState } from 'preact/hooks';
import type { ProjectAnswer } from '../src/core/page/answers.ts';
import { ConfirmAction } from './actions/confirm-action.tsx';
import { EditCell } from './actions/edit-cell.tsx';
import { follow, projectTicks } from './live/live.ts';
import { ConnectionNote } from './parts/connection-note.tsx';
import { Help } from './parts/help.tsx';
import { useKeys } from './parts/keys.ts';
import { Notices } from './parts/notices.tsx';
import { ShiftScreen } from './screens/shift/shift-screen.tsx';
import { ShiftsScreen } from './screens/shifts/shifts-screen.tsx';
import { place } from './state/place.ts';
import { isShiftKnown, project } from './state/project.ts';
import { isRefused } from './state/request.ts';
import { useAnswer } from './state/use-answer.ts';

export function App() {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { failure } = useProject();
  useFollowing();
  useKeys({ '?': () => setHelpOpen(true) });
  if (isRefused.value) return <Refused />;
  const at = place.value;
  return (
    <>
      {at.screen === 'shifts' ? (
        <ShiftsScreen failure={failure} onHelp={() => setHelpOpen(true)} />
      ) : (
        <ShiftScreen key={at.shift} place={at} onHelp={() => setHelpOpen(true)} />
      )}
      <ConnectionNote />
      <Notices />
      <ConfirmAction />
      <EditCell />
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
    </>
  );
}

function Refused() {
  return (
    <main class="alone">
      <h1>Nightshift</h1>
      <p>
        This browser has no access. Open the address that <code>nightshift view</code> printed.
      </p>
    </main>
  );
}

/** Other screens need it once, for what is allowed. */
function useProject() {
  const isList = place.value.screen === 'shifts';
  const path = isList || isShiftKnown.value ? '/api/project' : undefined;
  const answer = useAnswer<ProjectAnswer>(path, isList ? projectTicks().value : 0);
  useEffect(() => {
    if (answer.value) project.value = answer.value;
  }, [answer.value]);
  return answer;
}

function useFollowing(): void {
  const at = place.value;
  const running = project.value?.shifts.filter(({ isArchived }) => !isArchived).map(({ id }) => id) ?? [];
  const shifts = at.screen === 'shifts' ? running : [at.shift];
  const key = shifts.join('\n');
  // A list with the same names is the same list
  useEffect(() => follow(shifts), [key]);
}
