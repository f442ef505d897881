import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { StepsAnswer } from '../../../src/core/page/history-answers.ts';
import { ticksOf } from '../../live/live.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { go, type Place } from '../../state/place.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { Lessons } from './lessons.tsx';
import { StepsDiff } from './steps-diff.tsx';
import { VersionLine } from './version-line.tsx';

export type StepsPlace = Extract<Place, { screen: 'steps' }>;

interface StepsScreenProps {
  readonly place: StepsPlace;
  readonly shift: ShiftAnswer;
}

/** How the Steps of a task changed, and what the lessons in them are worth. */
export function StepsScreen({ place, shift }: StepsScreenProps) {
  const { tasks } = shift.columns;
  const task = tasks.find((each) => each === place.task) ?? tasks[0];
  const path = task === undefined ? undefined : apiPath('steps', { shift: shift.id, task });
  const { value: steps, failure } = useAnswer<StepsAnswer>(path, ticksOf(shift.id).value);
  const choose = (next: string) => go({ screen: 'steps', shift: shift.id, task: next }, 'replace');
  return (
    <main class="scroller" tabIndex={0} aria-label="Steps">
      <div class="column">
        {task === undefined && <p class="dim">The shift has no task yet.</p>}
        {task !== undefined && tasks.length > 1 && (
          <Tabs
            label="Tasks"
            choices={tasks.map((each) => ({ id: each, title: visibleText(each) }))}
            chosen={task}
            onChoose={choose}
            controls="steps"
          />
        )}
        <FailureNote failure={failure} />
        {steps && (
          <div id="steps" role={tasks.length > 1 ? 'tabpanel' : undefined}>
            <Lessons shift={shift} steps={steps} />
            <VersionLine place={place} steps={steps} />
            <StepsDiff place={place} shift={shift} steps={steps} />
            <section aria-labelledby="current-steps">
              <h2 id="current-steps">Current Steps</h2>
              <pre class="document">{visibleText(steps.text)}</pre>
            </section>
          </div>
        )}
      </div>
    </main>
  );
}
