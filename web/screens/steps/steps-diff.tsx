import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { StepsAnswer, StepsDiffAnswer } from '../../../src/core/page/history-answers.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { DiffLines } from '../../parts/diff.tsx';
import { FailureNote } from '../../parts/failure-note.tsx';
import { go } from '../../state/place.ts';
import { mayAct } from '../../state/project.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { comparedVersions } from './compared-versions.ts';
import type { StepsPlace } from './steps-screen.tsx';

interface StepsDiffProps {
  readonly place: StepsPlace;
  readonly shift: ShiftAnswer;
  readonly steps: StepsAnswer;
}

/** The difference of any two versions. */
export function StepsDiff({ place, shift, steps }: StepsDiffProps) {
  const { task, versions } = steps;
  const compared = comparedVersions(steps, place);
  const numbers = compared && { from: compared.from.number, to: compared.to.number };
  const path = numbers && apiPath('steps-diff', { shift: shift.id, task, ...numbers });
  // A version never changes.
  const { value, failure } = useAnswer<StepsDiffAnswer>(path, '');
  if (!compared || !numbers) return null;
  const { from, to } = compared;
  const choose = (end: 'from' | 'to', number: string) => {
    go({ ...place, task, ...numbers, [end]: Number(number) }, 'replace');
  };
  const select = (end: 'from' | 'to', label: string) => (
    <label>
      {label}{' '}
      <select value={numbers[end]} onChange={(event) => choose(end, event.currentTarget.value)}>
        {versions.map(({ number }) => (
          <option key={number} value={number}>
            version {number}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <section aria-labelledby="steps-diff">
      <h2 id="steps-diff">Difference</h2>
      <div class="buttons">
        {select('from', 'From')}
        {select('to', 'to')}
        {!to.isCurrent && mayAct(shift) && (
          <button
            type="button"
            onClick={() => {
              const action = { verb: 'restore', task, version: to.number } as const;
              requestAction({ shift: shift.id, title: `Restore version ${to.number}`, action });
            }}
          >
            Restore version {to.number}
          </button>
        )}
      </div>
      <FailureNote failure={failure} />
      {from.number === to.number || value?.lines.length === 0 ? (
        <p class="dim">No difference.</p>
      ) : (
        value && <DiffLines lines={value.lines} />
      )}
    </section>
  );
}
