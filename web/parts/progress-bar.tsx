import type { Counts } from '../../src/core/model/events.ts';
import { amount, wholeNumber } from './format.ts';

/** Done, failed and left. What is not zero is at least a sliver. */
export function ProgressBar({ counts }: { readonly counts: Counts }) {
  const { total, completed, failed, remaining } = counts;
  const label = `${wholeNumber(completed)} done, ${wholeNumber(failed)} failed, ${wholeNumber(remaining)} left of ${amount(total, 'item')}`;
  const part = (value: number) => ({ flexGrow: String(value), minWidth: value > 0 ? '3px' : '0' });
  return (
    <span class="progress" role="img" aria-label={label} title={label}>
      <span class="progress-part is-done" style={part(completed)} />
      <span class="progress-part is-failed" style={part(failed)} />
      <span class="progress-part is-left" style={part(total === 0 ? 1 : remaining)} />
    </span>
  );
}
