import type { AssistantMessage } from '@opencode-ai/sdk/v2/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readAnswer, usageOf } from './answer.ts';

const ASKED = { agent: 'nightshift-engine-qa', model: 'acme/one' };
const info = (more: Partial<AssistantMessage> = {}) =>
  ({ agent: ASKED.agent, providerID: 'acme', modelID: 'one', ...more }) as AssistantMessage;
const said = (text: string) => [{ type: 'text', text } as never];
const failure = (statusCode: number | undefined, more: object = {}) =>
  readAnswer(
    {
      info: info({
        error: { name: 'APIError', data: { message: 'no', statusCode, isRetryable: false, ...more } } as never,
      }),
      parts: [],
    },
    ASKED,
    undefined,
  );

test('D4 a report is the structured output, else the last JSON of the text; an error about the form is none', () => {
  const structured = { overall_status: 'SUCCESS' };
  expect(readAnswer({ info: info({ structured }), parts: said('{"a":1}') }, ASKED, undefined)).toEqual({
    kind: 'report',
    report: structured,
  });
  const error = { name: 'StructuredOutputError' as const, data: { message: 'none', retries: 0 } };
  expect(readAnswer({ info: info({ error }), parts: said('Done: {"a":1}') }, ASKED, undefined)).toEqual({
    kind: 'report',
    report: { a: 1 },
  });
  expect(readAnswer({ info: info({ error }), parts: said('Done.') }, ASKED, undefined)).toMatchObject({
    kind: 'no-report',
  });
  expect(readAnswer({ info: info(), parts: [] }, ASKED, undefined)).toMatchObject({
    kind: 'no-report',
    reason: expect.stringContaining('without an answer'),
  });
});

test('Q2 an answer of another agent or another model is a failure that names it, whatever it says', () => {
  const report = { overall_status: 'PASS' };
  const answer = (more: Partial<AssistantMessage>) =>
    readAnswer({ info: info({ structured: report, ...more }), parts: [] }, ASKED, undefined);
  expect(answer({ agent: 'build' })).toEqual({
    kind: 'failed',
    reason: expect.stringContaining('the agent build answered'),
  });
  expect(answer({ modelID: 'two' })).toEqual({ kind: 'failed', reason: expect.stringContaining('acme/two answered') });
  expect(answer({})).toEqual({ kind: 'report', report });
});

describe('X5 errors of the program, by their type and status', () => {
  test.each([
    [401, { remedy: expect.stringContaining('opencode auth login') }],
    [402, { remedy: expect.stringContaining('credit') }],
    [404, { remedy: expect.stringContaining('acme/one') }],
    [503, {}],
    [undefined, {}],
  ])('X5 HTTP %s is trouble', (status, more) => {
    expect(failure(status)).toEqual({ kind: 'trouble', trouble: { reason: expect.any(String), ...more } });
  });

  test('X5 HTTP 429 says when it ends, if the provider did', () => {
    const now = Date.UTC(2026, 0, 30);
    vi.useFakeTimers({ now });
    onTestFinished(() => void vi.useRealTimers());
    expect(failure(429, { responseHeaders: { 'retry-after': '3600' } })).toMatchObject({
      kind: 'trouble',
      trouble: { until: now + 3_600_000 },
    });
    // The program has waited that long itself; more of it uses up patience.
    expect(failure(429, { responseHeaders: { 'retry-after': '1' } })).not.toHaveProperty('trouble.until');
  });

  test('X5 a request that is refused for what it holds is the item’s own failure', () => {
    expect(failure(400)).toMatchObject({ kind: 'failed' });
    const error = { name: 'ContextOverflowError' as const, data: { message: 'too long' } };
    expect(readAnswer(undefined, ASKED, error)).toMatchObject({ kind: 'failed' });
  });
});

test('O1 cached input counts as input, reasoning as output, and a price of 0 is none', () => {
  const tokens = { input: 10, output: 5, reasoning: 3, cache: { read: 100, write: 20 } };
  expect(usageOf({ cost: 0, tokens })).toEqual({ inputTokens: 130, outputTokens: 8 });
  expect(usageOf({ cost: 0.5, tokens })).toEqual({ inputTokens: 130, outputTokens: 8, costUsd: 0.5 });
});
