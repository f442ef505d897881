import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { ticksOf, useWhole } from '../../live/live.ts';
import { FailureNote } from '../../parts/failure-note.tsx';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { RunBar } from '../shift/run-bar.tsx';
import { BurnDown } from './burn-down.tsx';
import { ConcurrencyChart } from './concurrency-chart.tsx';
import { FirstAttempts } from './first-attempts.tsx';
import { ItemDots } from './item-dots.tsx';
import { Spend } from './spend.tsx';

export function ChartsScreen({ shift }: { readonly shift: ShiftAnswer }) {
  const path = apiPath('charts', { shift: shift.id });
  const { value: charts, failure } = useAnswer<ChartsAnswer>(path, ticksOf(shift.id).value);
  useWhole(shift.id, charts);
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
          <ConcurrencyChart charts={charts} isRunning={shift.status.running !== null} />
          <FirstAttempts charts={charts} />
          <Spend charts={charts} />
        </div>
      )}
    </main>
  );
}
