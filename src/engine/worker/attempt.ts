import { DEV_TIMEOUT } from '../../core/model/failure-point.ts';
import type { Trouble } from '../../core/model/model.ts';
import type { DevReport } from '../../roles/report.ts';
import { GIVEN_BACK, lastChanceMissed, timeoutReason, type Work } from './work.ts';

/** How one attempt of a dev ended. */
export type Attempt<T = DevReport> =
  | { readonly kind: 'succeeded'; readonly report: T; readonly captured: Record<string, string> }
  /** `status` is what the dev reported or, without a report, what the engine found. */
  | {
      readonly kind: 'failed';
      readonly status: string;
      readonly reason: string;
      readonly failurePoint: string;
      readonly final?: boolean;
    }
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  | { readonly kind: 'aborted' };

export type FailedAttempt = Exclude<Attempt, { kind: 'succeeded' }>;

export function statusOf(attempt: Attempt): string {
  if (attempt.kind === 'succeeded') return 'SUCCESS';
  return attempt.kind === 'failed' ? attempt.status : attempt.kind;
}

/** The reason names the failure point: `status` prints only the reason. */
export function failed(status: string, detail: string, failurePoint: string, final = false): FailedAttempt {
  return { kind: 'failed', status, reason: `${status}: ${detail}`, failurePoint, final };
}

export function troubled(work: Work, trouble: Trouble): FailedAttempt {
  const reason = lastChanceMissed(work, trouble);
  if (reason === undefined) return { kind: 'trouble', trouble };
  return { kind: 'failed', status: 'FAILED', reason, failurePoint: GIVEN_BACK, final: true };
}

/** A timeout is final for the item; a stop of the run is not the item's fault. */
export function aborted(work: Work): FailedAttempt {
  return work.timeout.aborted
    ? { kind: 'failed', status: 'FAILED', reason: timeoutReason(work), failurePoint: DEV_TIMEOUT, final: true }
    : { kind: 'aborted' };
}
