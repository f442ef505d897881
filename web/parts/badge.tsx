import type { RowFilter } from '../../src/core/page/row-query.ts';

const LETTERS: Readonly<Record<RowFilter, string>> = {
  todo: 'T',
  in_progress: 'I',
  qa: 'Q',
  done: 'D',
  failed: 'F',
  blocked: 'B',
  held: 'H',
};

/** A status by colour and letter. `hasName`: the name is written beside it. */
export function Badge({ status, hasName = false }: { readonly status: RowFilter; readonly hasName?: boolean }) {
  return (
    <span class={`badge is-${status}`} title={hasName ? undefined : status}>
      <span class="badge-letter" aria-hidden="true">
        {LETTERS[status]}
      </span>
      <span class={hasName ? 'badge-name' : 'for-readers'}>{status}</span>
    </span>
  );
}
