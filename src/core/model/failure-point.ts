/** Failure points of items that ran out of time. */
export const DEV_TIMEOUT = 'timeout';
export const QA_TIMEOUT = 'timeout of qa';

export function isTimeout(failurePoint: string | undefined): boolean {
  return failurePoint === DEV_TIMEOUT || failurePoint === QA_TIMEOUT;
}
