import type { Failure } from '../state/request.ts';
import { visibleText } from './visible-text.ts';

/** Nothing if the server did not answer: the note about the connection says that. */
export function FailureNote({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined || failure.isSilent) return null;
  return (
    <p class="failure-note" role="alert">
      {visibleText(failure.message)}
      {failure.hint === undefined ? null : <span class="failure-hint">{visibleText(failure.hint)}</span>}
    </p>
  );
}
