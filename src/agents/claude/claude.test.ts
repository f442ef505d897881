import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { Answer } from '../agent.ts';
import type { ProcessResult } from '../process/process.ts';
import { readAnswer } from './errors.ts';
import { ClaudeStream } from './stream.ts';

/** Events as version 2.1.325 prints them, without the fields that nobody reads. */
const init = (more: object = {}) => ({
  type: 'system',
  subtype: 'init',
  tools: ['Edit', 'Glob', 'Grep', 'Read', 'StructuredOutput', 'Write'],
  mcp_servers: [],
  model: 'claude-sonnet-4-5',
  permissionMode: 'dontAsk',
  claude_code_version: '2.1.325',
  ...more,
});
const assistant = (id: string, content: object[], more: object = {}) => ({
  type: 'assistant',
  message: {
    id,
    content,
    usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 1000, cache_creation_input_tokens: 10 },
  },
  ...more,
});
const said = (text: string) => ({ type: 'text', text });
const result = (more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: '',
  terminal_reason: 'completed',
  permission_denials: [],
  api_error_status: null,
  total_cost_usd: 0.004,
  modelUsage: {
    'claude-sonnet-4-5': {
      inputTokens: 100,
      outputTokens: 20,
      cacheReadInputTokens: 1000,
      cacheCreationInputTokens: 10,
      costBasis: 'list',
    },
  },
  ...more,
});

const none = { text: '', cut: false };
const exited = (code: number, stderr = ''): Exclude<ProcessResult, { kind: 'aborted' }> => ({
  kind: 'exited',
  code,
  stdout: none,
  stderr: { text: stderr, cut: false },
  recent: { stdout: '', stderr, both: stderr },
});

function read(...events: (object | string)[]): ClaudeStream & { entries: TranscriptEntry[] } {
  const entries: TranscriptEntry[] = [];
  const stream = new ClaudeStream(
    (entry) => entries.push(entry),
    () => {},
  );
  const text = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))).join('\n');
  // Cut where no line ends.
  for (let at = 0; at < text.length; at += 17) stream.add(text.slice(at, at + 17));
  stream.end();
  return Object.assign(stream, { entries });
}

function answerTo(...events: object[]): Answer {
  return readAnswer(exited(1, 'what it printed'), read(...events));
}

test('X8 what the program tells becomes a transcript: text, calls, results, notes; anything else is output', () => {
  const { entries } = read(
    init(),
    assistant('m1', [said('Let me look.')]),
    assistant('m1', [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a' } }]),
    { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: '1\tone' }] } },
    assistant('m2', [{ type: 'tool_use', id: 't2', name: 'mcp__shop__buy', input: {} }]),
    {
      type: 'user',
      message: {
        content: [{ type: 'tool_result', tool_use_id: 't2', is_error: true, content: [said('no'), { type: 'image' }] }],
      },
    },
    { type: 'user', isSynthetic: true, message: { content: [said('You MUST call the tool.')] } },
    {
      type: 'system',
      subtype: 'api_retry',
      attempt: 1,
      max_retries: 5,
      retry_delay_ms: 519,
      error_status: 500,
      error: 'server_error',
    },
    { type: 'an event of a later version' },
    'Warning: plain text',
    '',
    '42',
  );
  expect(entries).toEqual([
    { kind: 'note', text: 'claude 2.1.325, model claude-sonnet-4-5' },
    { kind: 'text', text: 'Let me look.' },
    { kind: 'tool-call', tool: 'Read', text: '{"file_path":"a"}', mayWrite: false },
    { kind: 'tool-result', tool: 'Read', text: '1\tone', isError: false },
    { kind: 'tool-call', tool: 'mcp__shop__buy', text: '{}', mayWrite: true },
    { kind: 'tool-result', tool: 'mcp__shop__buy', text: 'no\n[image]', isError: true },
    { kind: 'note', text: 'You MUST call the tool.' },
    { kind: 'note', text: 'the model could not be asked (HTTP 500, server_error): again in 0.5 s (1 of 5)' },
    { kind: 'output', text: 'Warning: plain text\n' },
    { kind: 'output', text: '42\n' },
  ]);
});

test('X6 the usage of the whole session, with cached input; a price that the program only guesses is none', () => {
  expect(read(result()).ending?.total).toEqual({ inputTokens: 1110, outputTokens: 20, costUsd: 0.004 });
  const guessed = { 'my-model': { inputTokens: 5, outputTokens: 7, costBasis: 'unknown' } };
  expect(read(result({ modelUsage: guessed })).ending?.total).toEqual({ inputTokens: 5, outputTokens: 7 });
  const free = { 'my-model': { inputTokens: 5, outputTokens: 7 } };
  expect(read(result({ modelUsage: free, total_cost_usd: 0 })).ending?.total).toEqual({
    inputTokens: 5,
    outputTokens: 7,
  });
});

test('X6 of a run that was ended, what its messages told, each once', () => {
  const { usedSoFar, ending } = read(
    init(),
    assistant('m1', [said('a')]),
    assistant('m1', [said('b')]),
    assistant('m2', []),
  );
  expect(ending).toBeUndefined();
  expect(usedSoFar).toEqual({ inputTokens: 2220, outputTokens: 2 });
  expect(read(init()).usedSoFar).toEqual({});
});

test('D4 the report is the structured output, else the last JSON object of what was said after the last tool', () => {
  const report = { overall_status: 'SUCCESS' };
  const text = JSON.stringify(report);
  const isReport = { kind: 'report', report };
  expect(answerTo(init(), result({ structured_output: report, result: 'x' }))).toEqual(isReport);
  expect(answerTo(init(), result({ structured_output: null, result: `Well: ${text}` }))).toEqual(isReport);
  const tool = { type: 'tool_use', id: 't', name: 'Read', input: {} };
  expect(
    answerTo(assistant('m', [said(text)]), assistant('n', [said('That was it.')]), result({ result: 'That was it.' })),
  ).toEqual(isReport);
  expect(answerTo(assistant('m', [said(text)]), assistant('n', [tool]), result({ result: 'no' }))).toEqual({
    kind: 'no-report',
    reason: 'its answer has no JSON object',
  });
});

test('D4 a turn that ends without a report says why: nothing was said, a tool was refused, the form was wrong', () => {
  expect(answerTo(result())).toEqual({ kind: 'no-report', reason: 'it ended its turn and said nothing' });
  expect(
    answerTo(result({ result: 'I may not.', permission_denials: [{ tool_name: 'Write' }, { tool_name: 'Write' }] })),
  ).toEqual({
    kind: 'no-report',
    reason: 'it was denied Write, and gave no report',
  });
  expect(answerTo(result({ is_error: true, subtype: 'error_max_structured_output_retries' }))).toMatchObject({
    kind: 'no-report',
  });
});

const refused = (error: string, status: number | null, text: string, more: object = {}) => [
  init(),
  assistant('e', [said(text)], { error }),
  result({ is_error: true, api_error_status: status, terminal_reason: 'api_error', result: text, ...more }),
];

test.each([
  [
    'not logged in',
    refused('authentication_failed', null, 'Not logged in · Please run /login'),
    /not logged in/,
    /claude auth login/,
  ],
  [
    'a key that is refused',
    refused('authentication_failed', 401, 'Invalid API key'),
    /not logged in \(HTTP 401\)/,
    /ANTHROPIC_API_KEY/,
  ],
  ['no money', refused('billing_error', 400, 'Credit balance is too low'), /Credit balance/, /add credit/],
  [
    'no such model',
    refused('model_not_found', 404, "There's an issue"),
    /no such model \(HTTP 404\)/,
    /correct `model:`/,
  ],
  ['a rate limit', refused('rate_limit', 429, 'Request rejected'), /rate limited \(HTTP 429\)/, undefined],
  ['overloaded', refused('overloaded', 529, 'Overloaded'), /overloaded \(HTTP 529\)/, undefined],
  ['a server that fails', refused('server_error', 500, 'oops'), /server failed \(HTTP 500\)/, undefined],
  [
    'no network',
    refused('server_error', null, 'Connection refused (ECONNREFUSED)', { api_error: 'connection_failed' }),
    /ECONNREFUSED/,
    undefined,
  ],
])('X5 %s is not the fault of the item', (_, events, reason, remedy) => {
  const answer = answerTo(...events);
  expect(answer).toEqual({
    kind: 'trouble',
    trouble: expect.objectContaining({ reason: expect.stringMatching(reason) }),
  });
  const { trouble } = answer as Extract<Answer, { kind: 'trouble' }>;
  if (remedy === undefined) expect(trouble.remedy).toBeUndefined();
  else expect(trouble.remedy).toMatch(remedy);
});

test('X5 a usage limit has the time at which it ends', () => {
  const limit = {
    type: 'rate_limit_event',
    rate_limit_info: { status: 'rejected', resetsAt: 1794786463, rateLimitType: 'five_hour' },
  };
  const [begin, ...rest] = refused('rate_limit', 429, "You've hit your 5-hour limit", {
    api_error: 'usage_limit_reached',
  });
  expect(answerTo(begin!, limit, ...rest)).toEqual({
    kind: 'trouble',
    trouble: { reason: "claude: You've hit your 5-hour limit", until: 1794786463000 },
  });
  const allowed = { type: 'rate_limit_event', rate_limit_info: { status: 'allowed_warning', resetsAt: 1794786463 } };
  expect(answerTo(begin!, allowed, ...rest)).toEqual({
    kind: 'trouble',
    trouble: { reason: 'claude: rate limited (HTTP 429)' },
  });
});

test('X5 the words of the model are no errors, and what the item brought about is its own failure', () => {
  const words = 'API Error: 429 rate_limit overloaded, please run /login';
  expect(answerTo(init(), assistant('m', [said(words)]), result({ result: words }))).toMatchObject({
    kind: 'no-report',
  });
  expect(
    answerTo(...refused('invalid_request', 400, 'Prompt is too long', { terminal_reason: 'prompt_too_long' })),
  ).toEqual({
    kind: 'failed',
    reason: 'claude: Prompt is too long',
  });
  expect(
    answerTo(init(), result({ is_error: true, subtype: 'error_max_turns', result: undefined, errors: ['Reached 3'] })),
  ).toEqual({
    kind: 'failed',
    reason: 'claude: Reached 3',
  });
});

test('X5 a program that ends before it begins is trouble; one that dies at work has failed', () => {
  expect(readAnswer(exited(1, 'bad option'), read())).toEqual({
    kind: 'trouble',
    trouble: { reason: 'claude did not start: exit code 1: bad option' },
  });
  expect(readAnswer(exited(127, 'not found'), read())).toMatchObject({
    trouble: { remedy: expect.stringContaining('npm install') },
  });
  const killed = { ...exited(0), kind: 'signalled', signal: 'SIGKILL' } as const;
  expect(readAnswer(killed, read(init()))).toEqual({
    kind: 'failed',
    reason: 'claude ended before its turn did: ended by SIGKILL, and it printed nothing',
  });
  expect(readAnswer(exited(0), read(init()))).toMatchObject({ kind: 'failed' });
});

test('M6 a session that was compacted says so', () => {
  expect(read(init(), { type: 'system', subtype: 'compact_boundary' }).compacted).toBe(true);
  expect(read(init()).compacted).toBe(false);
});
