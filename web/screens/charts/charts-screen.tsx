import { useState } from 'preact/hooks';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { ticksOf } from '../../live/live.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { now } from '../../state/clock.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { RunBar } from '../shift/run-bar.tsx';
import { BurnDown } from './burn-down.tsx';
import { ConcurrencyChart } from './concurrency-chart.tsx';
import { FirstAttempts } from './first-attempts.tsx';
import { ItemDots } from './item-dots.tsx';
import { Spend } from './spend.tsx';

/** A partial answer is asked again after this long. */
const AGAIN_MS = 1000;

export function ChartsScreen({ shift }: { readonly shift: ShiftAnswer }) {
  const [isPartial, setPartial] = useState(false);
  const again = isPartial ? Math.floor(now.value / AGAIN_MS) : 0;
  const path = apiPath('charts', { shift: shift.id });
  const { value: charts, failure } = useAnswer<ChartsAnswer>(path, `${ticksOf(shift.id).value} ${again}`);
  if (charts && charts.isPartial !== isPartial) setPartial(charts.isPartial);
  const isEmpty = charts && charts.runs.length === 0;
  return (
    <main class="scroller" tabIndex={0} aria-label="Charts">
      <RunBar shift={shift} />
      <FailureNote failure={failure} />
      {charts?.isPartial && (
        <p class="dim column" role="status">
          The journal is still being read …
        </p>
      )}
      {isEmpty && !charts.isPartial && <p class="dim column">Nothing has run yet.</p>}
      {charts && !isEmpty && (
        <div class="charts">
          <BurnDown charts={charts} shift={shift} />
          <ItemDots charts={charts} shift={shift.id} />
          <ConcurrencyChart charts={charts} />
          <FirstAttempts charts={charts} />
          <Spend charts={charts} />
        </div>
      )}
    </main>
  );
}
