import { withoutLogin } from '../../core/workspace/login.ts';
import type { DeliveryFailure } from '../../core/workspace/workspaces.ts';
import { failureOf } from '../failure.ts';
import { GitFailure, mayPass } from '../git.ts';

/** `point`: the same for all rows that fail for this reason. */
export function failed(point: string, reason: string): DeliveryFailure {
  return { kind: 'failed', reason: withoutLogin(reason), failurePoint: `delivery: ${point}` };
}

/** What `gh` and `glab` say of a network or a server that fails. */
const PASSING =
  /error connecting to|i\/o timeout|tls handshake timeout|rate limit|http 5\d\d|\/api\/v4\/\S*: (?:429|5\d\d)\b|no such host/i;

const NOT_LOGGED_IN =
  /authentication failed|could not read (?:username|password)|terminal prompts disabled|permission denied \(|host key verification failed|gh auth login|glab auth login|not logged in|bad credentials|http 401|401 unauthorized/i;

/** What a program said when it failed: the item's fault, or something that passes or that a person must fix. */
export function failureFrom(point: string, what: string, said: string): DeliveryFailure {
  const reason = withoutLogin(`${what}: ${usefulLines(said)}`);
  if (NOT_LOGGED_IN.test(said)) {
    return { kind: 'trouble', trouble: { reason, remedy: 'log in, so that git or its helper can reach the remote' } };
  }
  if (mayPass(said) || PASSING.test(said)) return { kind: 'trouble', trouble: { reason } };
  return failed(point, reason);
}

/** What an error means for the row. Throws it again if it is a bug. */
export function deliveryFailureOf(error: unknown, signal: AbortSignal): DeliveryFailure {
  if (!signal.aborted && error instanceof GitFailure && error.isRefusal) {
    return failureFrom('git', error.what, error.said);
  }
  return failureOf(error, signal);
}

const SHOWN_LINES = 8;
/** What git adds for people at a terminal. */
const NOISE = /^(?:hint:|To \S+$|Done$|error: failed to push some refs|!\t|=\t|\+\t|Everything up-to-date)/;

function usefulLines(said: string): string {
  const lines = said.split('\n').map((line) => line.replace(/^remote:\s?/, '').trim());
  const useful = lines.filter((line) => line !== '' && !NOISE.test(line));
  const verdict = /^!\t.*?(\[.*)$/m.exec(said)?.[1];
  return (
    [...useful.slice(-SHOWN_LINES), ...(verdict === undefined ? [] : [verdict])].join('; ') || 'no reason was given'
  );
}
