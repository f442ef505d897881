import type { StepsAnswer } from '../../../src/core/page/history-answers.ts';
import { timeText } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { go } from '../../state/place.ts';
import { comparedVersions } from './compared-versions.ts';
import type { StepsPlace } from './steps-screen.tsx';

interface VersionLineProps {
  readonly place: StepsPlace;
  readonly steps: StepsAnswer;
}

/** The versions from the oldest to the newest. A version is compared with the one before it. */
export function VersionLine({ place, steps }: VersionLineProps) {
  const compared = comparedVersions(steps, place);
  const choose = (to: number) => go({ ...place, task: steps.task, from: undefined, to }, 'replace');
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ol class="versions">
        {steps.versions.map(({ number, at, summary, isCurrent }) => (
          <li key={number}>
            <button
              type="button"
              class="version"
              aria-pressed={number === compared?.to.number}
              onClick={() => choose(number)}
            >
              <span class="version-number">
                {number}
                {isCurrent && <span class="tag">current</span>}
              </span>
              <span class="dim">{at === undefined ? 'as written' : timeText(at)}</span>
              {summary !== undefined && <span class="version-summary">{visibleText(summary)}</span>}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
