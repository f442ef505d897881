import type { Answer } from '../agent.ts';

/** Why a turn failed, in Codex's words, with its error type if the session file has one. */
export interface CodexFailure {
  readonly message: string;
  readonly type?: unknown;
}

const LOG_IN = 'log in with `codex login`, or set CODEX_API_KEY';
const BILLING = 'see your plan and billing at the provider';
const OTHER_MODEL = 'correct `model:`; `codex` lists the models that you have with /model';

/** Classifies a failure (rule X5). Reads only what Codex itself reports, never what the model said. */
export function readFailure({ message, type }: CodexFailure, now: number): Answer {
  const reason = `codex: ${message}`;
  const wait = (until?: number): Answer => ({
    kind: 'trouble',
    trouble: { reason, ...(until === undefined ? {} : { until }) },
  });
  const needs = (remedy: string): Answer => ({ kind: 'trouble', trouble: { reason, remedy } });

  const status = statusOf(message, type);
  if (status === 401 || status === 403) return needs(LOG_IN);
  if (status === 402) return needs(BILLING);
  if (status === 404) return needs(OTHER_MODEL);
  if (status === 408 || status === 429 || (status !== undefined && status >= 500)) return wait();
  switch (type) {
    case 'unauthorized':
      return needs(LOG_IN);
    case 'model_not_found':
      return needs(OTHER_MODEL);
    case 'usage_limit_exceeded':
      if (/^Quota exceeded/.test(message)) return needs(BILLING);
      return wait(limitEnds(message, now));
    case 'rate_limit_exceeded':
    case 'server_overloaded':
    case 'internal_server_error':
      return wait();
    case 'context_window_exceeded':
      return { kind: 'failed', reason };
  }
  // Any other status is an answer: asking again would give the same.
  if (isObject(type) && 'http_connection_failed' in type && status === undefined) return wait();
  if (/^Missing environment variable/.test(message))
    return needs('set it, and let it through with `pass-env:` if it does not begin with OPENAI_ or CODEX_');
  if (/model is not supported/.test(message)) return needs(OTHER_MODEL);
  // The session file may be missing: these are the messages of the same errors.
  if (/hit your usage limit/.test(message)) return wait(limitEnds(message, now));
  if (/^(Connection failed|exceeded retry limit|rate limit exceeded|Selected model is at capacity)/.test(message))
    return wait();
  if (/experiencing high demand/.test(message)) return wait();
  if (/^stream disconnected before completion: (?!Incomplete response)/.test(message)) return wait();
  return { kind: 'failed', reason };
}

function statusOf(message: string, type: unknown): number | undefined {
  const typed = isObject(type) ? Object.values(type)[0] : undefined;
  if (isObject(typed) && typeof typed.http_status_code === 'number') return typed.http_status_code;
  const said = /^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/.exec(message)?.[1];
  return said === undefined ? undefined : Number(said);
}

/** `try again at Nov 18th, 2026 8:20 AM.` or, on the same day, `try again at 8:20 AM.`; in the machine's own time. */
function limitEnds(message: string, now: number): number | undefined {
  const said = /try again at (?:(\w{3} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d{2} [AP]M)/i.exec(message);
  if (!said) return undefined;
  const [, day, year, time] = said;
  const ends = Date.parse(`${day === undefined ? new Date(now).toDateString() : `${day}, ${year}`} ${time}`);
  return Number.isNaN(ends) ? undefined : ends;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
