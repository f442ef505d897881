import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { amount, wholeNumber } from '../../parts/format.ts';
import { choiceOf, isEmpty, NOTHING, type Selection } from './selection.ts';

interface SelectionBarProps {
  readonly shift: ShiftAnswer;
  readonly query: RowQuery;
  readonly matching: number;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

/** What can be done with the rows that are selected. */
export function SelectionBar({ shift, query, matching, selection, onSelect }: SelectionBarProps) {
  if (isEmpty(selection)) return null;
  const count = selection === 'matching' ? matching : selection.size;
  const clear = () => onSelect(NOTHING);
  const button = (title: string, verb: 'retry' | 'reset' | 'withdraw' | 'deliver') => {
    const rows = choiceOf(selection, query);
    const action = verb === 'deliver' || query.task === undefined ? { verb, rows } : { verb, rows, task: query.task };
    return (
      <button type="button" onClick={() => requestAction({ shift: shift.id, title, action, onDone: clear })}>
        {title}
      </button>
    );
  };
  return (
    <section class="selection-bar" aria-label="Selected rows">
      <b>{selection === 'matching' ? `All ${wholeNumber(count)} rows that match` : amount(count, 'row')}</b>
      {button('Retry', 'retry')}
      {button('Reset', 'reset')}
      {shift.status.running && button('Withdraw', 'withdraw')}
      {shift.decisions.results > 0 && button('Approve', 'deliver')}
      <span class="spring" />
      {selection !== 'matching' && count < matching && (
        <button type="button" class="quiet" onClick={() => onSelect('matching')}>
          Select all {wholeNumber(matching)} that match
        </button>
      )}
      <button type="button" class="quiet" onClick={clear}>
        Clear
      </button>
    </section>
  );
}
