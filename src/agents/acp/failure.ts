import type { Answer } from '../agent.ts';
import { isRecord } from '../json-lines.ts';

/** `auth_required` of the protocol. */
const AUTH_REQUIRED = -32_000;
const LOG_IN = 'log in to the program that `acp-command:` runs, or set its key (and let it through with `pass-env:`)';

/**
 * Classifies an error of the protocol (rule X5). Programs put their provider's message into its message and data,
 * each in its own way. Only these are read, never what the model said.
 */
export function readProtocolError(error: unknown): Answer {
  const { message, code, data } = partsOf(error);
  const reason = `acp: ${message}`;
  const status = statusIn(data);
  const said = `${message} ${JSON.stringify(data ?? '')}`;
  if (
    code === AUTH_REQUIRED ||
    status === 401 ||
    status === 403 ||
    /api.?key|unauthori[sz]ed|log ?in|credential/i.test(said)
  )
    return { kind: 'trouble', trouble: { reason, remedy: LOG_IN } };
  const isWeather = /rate.?limit|overloaded|too many requests|quota|network|ECONN|ETIMEDOUT|ENOTFOUND|socket/i;
  if (status === 429 || (status ?? 0) >= 500 || /\b(429|5\d\d)\b/.test(said) || isWeather.test(said))
    return { kind: 'trouble', trouble: { reason } };
  return { kind: 'failed', reason };
}

function partsOf(error: unknown): { message: string; code?: number; data?: unknown } {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, data } = error as Error & { code?: unknown; data?: unknown };
  return { message: error.message, data, ...(typeof code === 'number' ? { code } : {}) };
}

function statusIn(data: unknown): number | undefined {
  if (!isRecord(data)) return undefined;
  const { status, statusCode, httpStatus } = data;
  return [status, statusCode, httpStatus].find((each) => typeof each === 'number') as number | undefined;
}
