import { EXIT, endByError } from '../../core/model/errors.ts';
import type { Counts } from '../../core/model/events.ts';
import type { Shift } from '../../core/model/shift.ts';
import { systemError } from '../../core/model/system-errors.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { createMask } from '../../core/text/mask.ts';
import type { RunEnd } from '../../engine/ports.ts';
import type { Store } from '../../store/store.ts';
import type { NewRun } from './run-shift.ts';

/** Undefined if the run lost its folder, or was stopped while its table could not be read. */
export async function countAtEnd(store: Pick<Store, 'snapshot'>, { exitCode }: RunEnd): Promise<Counts | undefined> {
  try {
    return countItems(await store.snapshot());
  } catch (error) {
    if (exitCode === EXIT.stopped || exitCode === EXIT.interrupted) return undefined;
    throw error;
  }
}

/** Records that an error ended the run, as far as that can still be written. */
export async function tellError(
  { stream, holder, ms }: NewRun,
  error: unknown,
  { store, secrets }: { readonly store: Pick<Store, 'snapshot'>; readonly secrets: Shift['secrets'] },
): Promise<void> {
  // Before `run:started`, only the caller hears of it.
  if (stream.history.lastRun?.run !== holder.run) return;
  const { reason, ...end } = endByError(systemError(error) ?? error);
  // Without the table's lock, a second read would only wait for it again.
  const last = end.error === 'locked' ? undefined : await store.snapshot().catch(() => undefined);
  const counts = last ? countItems(last) : {};
  stream.emit({ type: 'run:finished', ...end, reason: createMask(secrets).text(reason), ms: ms(), ...counts });
}
