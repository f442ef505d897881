import type { Action } from '../../../src/core/page/action.ts';
import type { ItemAnswer, ShiftAnswer, ShiftId } from '../../../src/core/page/answers.ts';
import { requestAction } from '../../actions/pending-action.ts';

export function retryItem(shift: ShiftId, item: string): void {
  requestAction({ shift, title: 'Retry', action: { verb: 'retry', rows: { items: [item] } } });
}

/** What can be done with one row now. */
export function ItemActions({ shift, item }: { readonly shift: ShiftAnswer; readonly item: ItemAnswer }) {
  const rows = { items: [item.item] };
  const has = (...wanted: string[]) => item.tasks.some(({ status }) => wanted.includes(status));
  const button = (title: string, action: Action) => (
    <button type="button" onClick={() => requestAction({ shift: shift.id, title, action })}>
      {title}
    </button>
  );
  return (
    <div class="buttons">
      {has('failed') && button('Retry', { verb: 'retry', rows })}
      {has('failed', 'done', 'qa') && button('Reset', { verb: 'reset', rows })}
      {shift.status.running && has('in_progress', 'qa') && button('Withdraw', { verb: 'withdraw', rows })}
    </div>
  );
}
