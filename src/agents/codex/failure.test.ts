import { expect, test } from 'vitest';
import { readFailure } from './failure.ts';

const NOW = new Date(2026, 10, 15, 12, 0).getTime();

/** As Codex 0.166.0 reported them, with the type from its session file. */
test.each<[string, unknown, RegExp]>([
  [
    'unexpected status 401 Unauthorized: no key, url: http://x/v1',
    { http_connection_failed: { http_status_code: 401 } },
    /codex login/,
  ],
  ['unexpected status 403 Forbidden: no country, url: http://x/v1', undefined, /codex login/],
  ['unexpected status 402 Payment Required: no credit, url: http://x/v1', undefined, /billing/],
  ['Missing environment variable: `OPENAI_API_KEY`.', 'other', /set it/],
  ['The model `nope` does not exist or you do not have access to it.', 'model_not_found', /model:/],
  ['{"detail":"The nope model is not supported when using Codex with a ChatGPT account."}', 'other', /model:/],
  ['Quota exceeded. Check your plan and billing details.', 'usage_limit_exceeded', /billing/],
])('X5 only a person can end it: %s', (message, type, remedy) => {
  const answer = readFailure({ message, type }, NOW);
  expect(answer).toMatchObject({ kind: 'trouble', trouble: { remedy: expect.stringMatching(remedy) } });
});

test.each<[string, unknown]>([
  [
    'exceeded retry limit, last status: 429 Too Many Requests',
    { response_too_many_failed_attempts: { http_status_code: 429 } },
  ],
  ['exceeded retry limit, last status: 429 Too Many Requests', undefined],
  ['rate limit exceeded: Rate limit reached. Please try again in 1.2s.', 'rate_limit_exceeded'],
  ['We’re currently experiencing high demand, which may cause temporary errors.', 'internal_server_error'],
  ['We’re currently experiencing high demand, which may cause temporary errors.', undefined],
  ['Selected model is at capacity. Please try a different model.', 'server_overloaded'],
  ['Connection failed: error sending request', { http_connection_failed: { http_status_code: null } }],
  ['stream disconnected before completion: stream closed before response.completed', 'other'],
])('X5 it ends by itself: %s (%j)', (message, type) => {
  expect(readFailure({ message, type }, NOW)).toEqual({ kind: 'trouble', trouble: { reason: `codex: ${message}` } });
});

test('X5 a usage limit tells when it ends, on another day or on this one', () => {
  const until = (message: string, type?: unknown) => {
    const answer = readFailure({ message: `You’ve hit your usage limit. ${message}`, type }, NOW);
    return answer.kind === 'trouble' ? answer.trouble.until : answer;
  };
  expect(until('Upgrade, or try again at Nov 18th, 2026 8:20 AM.')).toBe(new Date(2026, 10, 18, 8, 20).getTime());
  expect(until('Try again at 3:05 PM.', 'usage_limit_exceeded')).toBe(new Date(2026, 10, 15, 15, 5).getTime());
  expect(until('Try again later.', 'usage_limit_exceeded')).toBeUndefined();
});

test.each<[string, unknown]>([
  ["Codex ran out of room in the model's context window.", 'context_window_exceeded'],
  ['Incomplete response returned, reason: max_output_tokens', 'other'],
  ['stream disconnected before completion: Incomplete response returned, reason: content_filter', 'other'],
  [
    'unexpected status 413 Payload Too Large: too much, url: http://x/v1',
    { http_connection_failed: { http_status_code: 413 } },
  ],
  ['{"error":{"message":"bad param","type":"invalid_request_error"}}', 'other'],
])('R9 the attempt failed: %s', (message, type) => {
  expect(readFailure({ message, type }, NOW)).toEqual({ kind: 'failed', reason: `codex: ${message}` });
});
