import type { Action } from '../../../src/core/page/action.ts';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { costText, dollars, durationText, finishText, wholeNumber } from '../../parts/format.ts';
import { NeedsYou } from '../../parts/needs-you.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { mayAct } from '../../state/project.ts';
import { runState } from './run-state.ts';

/** What happened, what it cost, what needs a person, and what can be done now. */
export function RunBar({ shift }: { readonly shift: ShiftAnswer }) {
  const { counts } = shift.status;
  const state = runState(shift);
  return (
    <section class="run-bar" aria-label="State of the run">
      <div class="run-line">
        <p class={`run-state is-${state.kind}`}>{visibleText(state.text)}</p>
        {mayAct(shift) && <RunButtons shift={shift} />}
      </div>
      <div class="run-line">
        <ProgressBar counts={counts} />
        <p class="run-counts">
          <b>{wholeNumber(counts.completed)}</b> done · <Failed count={counts.failed} /> ·{' '}
          <b>{wholeNumber(counts.remaining)}</b> left of {wholeNumber(counts.total)}
        </p>
        <Facts shift={shift} />
      </div>
      {!shift.isArchived && <NeedsYou shift={shift.id} name={shift.status.shift} decisions={shift.decisions} />}
    </section>
  );
}

function Failed({ count }: { readonly count: number }) {
  return (
    <span class={count > 0 ? 'text-failed' : undefined}>
      <b>{wholeNumber(count)}</b> failed
    </span>
  );
}

function Facts({ shift: { status, finish, limits, report } }: { readonly shift: ShiftAnswer }) {
  const { usage, running, ms } = status;
  const limit = status.limits['max-cost'];
  const cost = costText(usage) ?? (limit === undefined ? undefined : dollars(0));
  return (
    <ul class="facts">
      {cost !== undefined && (
        <li title={limits.join(', ')}>
          <b>{cost}</b> {limit === undefined ? 'spent' : `of ${dollars(limit)} spent`}
        </li>
      )}
      {cost === undefined && usage.inputTokens !== undefined && (
        <li>
          <b>{wholeNumber(usage.inputTokens + (usage.outputTokens ?? 0))}</b> tokens
        </li>
      )}
      {ms > 0 && (
        <li title="The active time of all runs">
          <b>{durationText(ms)}</b> of work
        </li>
      )}
      {running && finish && (
        <li>
          ends <b>{finishText(finish)}</b>
        </li>
      )}
      {report !== undefined && !running && (
        <li>
          report <code>{visibleText(report)}</code>
        </li>
      )}
    </ul>
  );
}

function RunButtons({ shift }: { readonly shift: ShiftAnswer }) {
  const { status, draining } = shift;
  const button = (title: string, action: Action, isPrimary = false) => (
    <button
      type="button"
      class={isPrimary ? 'primary' : undefined}
      onClick={() => requestAction({ shift: shift.id, title, action })}
    >
      {title}
    </button>
  );
  const { running, paused, counts, batch } = status;
  const isDraining = draining !== undefined;
  if (batch) return null;
  return (
    <div class="buttons">
      {paused
        ? button('Resume', { verb: 'resume' }, true)
        : running && !isDraining && button('Pause', { verb: 'pause' })}
      {running && button('Stop', { verb: 'stop' })}
      {!running && counts.failed > 0 && button('Retry failed', { verb: 'retry' }, counts.remaining === 0)}
      {!running && counts.remaining > 0 && button('Start', { verb: 'start' }, true)}
    </div>
  );
}
