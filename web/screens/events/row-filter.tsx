import type { ItemAnswer } from '../../../src/core/page/answers.ts';
import { notify } from '../../state/notices.ts';
import type { EventsPlace } from '../../state/place.ts';
import { apiPath, ask } from '../../state/request.ts';

interface RowFilterProps {
  readonly place: EventsPlace;
  readonly onChoose: (item: string | undefined) => void;
}

/** Only events of one row. Events name the item, since rows may move. */
export function RowFilter({ place, onChoose }: RowFilterProps) {
  if (place.item !== undefined) {
    return (
      <button type="button" class="chip" aria-pressed="true" onClick={() => onChoose(undefined)}>
        one row only ✕
      </button>
    );
  }
  const submit = async (row: string) => {
    if (row === '') return;
    const reply = await ask<ItemAnswer>(apiPath('item', { shift: place.shift, row }), new AbortController().signal);
    if (reply && 'value' in reply) onChoose(reply.value.item);
    else if (reply) notify(reply.failure.message, true);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit((event.currentTarget.elements.namedItem('row') as HTMLInputElement).value.trim());
      }}
    >
      <input name="row" type="search" placeholder="any row" aria-label="Row, by number or name" />
    </form>
  );
}
