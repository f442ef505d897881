import type { AssistantMessage, Message, Part } from '@opencode-ai/sdk/v2/client';
import type { Trouble, Usage } from '../../core/model/model.ts';
import type { Answer } from '../agent.ts';
import { lastJsonObject } from '../last-json.ts';

/** The last message of a turn. */
export interface LastMessage {
  readonly info: AssistantMessage;
  readonly parts: readonly Part[];
}

/** The last message of a session, if it is a finished answer and came after that one. */
export function lastMessageIn(
  last: { readonly info: Message; readonly parts: readonly Part[] } | undefined,
  before: string,
): LastMessage | undefined {
  if (last?.info.role !== 'assistant' || last.info.id <= before) return undefined;
  const isOver = last.info.time.completed !== undefined || last.info.error !== undefined;
  return isOver ? { info: last.info, parts: last.parts } : undefined;
}

interface MessageCost {
  readonly cost: number;
  readonly tokens: Omit<AssistantMessage['tokens'], 'total'>;
}

type ProgramError = NonNullable<AssistantMessage['error']>;

const SHORT_PAUSE_SECONDS = 60;

export const LOG_IN = 'log in with `opencode auth login`, or set the API key of the provider';

/** Cached input is input, and reasoning is output. A cost of 0 means that the model has no known price. */
export function usageOf({ tokens, cost }: MessageCost): Usage {
  return {
    inputTokens: tokens.input + tokens.cache.read + tokens.cache.write,
    outputTokens: tokens.output + tokens.reasoning,
    ...(cost > 0 ? { costUsd: cost } : {}),
  };
}

export interface TurnRequest {
  readonly agent: string;
  /** `provider/model`; absent: the user's choice. */
  readonly model?: string | undefined;
}

/** Reads the result of a turn. `error`: what the server reported, if no answer has it. */
export function readAnswer(said: LastMessage | undefined, asked: TurnRequest, error: ProgramError | undefined): Answer {
  const stranger = said && wrongOne(said.info, asked);
  if (stranger !== undefined) return { kind: 'failed', reason: stranger };
  const failure = said === undefined ? error : said.info.error;
  // An answer without structured output is read as text.
  if (failure !== undefined && failure.name !== 'StructuredOutputError') return readError(failure, asked);
  if (said === undefined) return { kind: 'failed', reason: 'opencode gave no answer at all' };
  if (said.info.structured !== undefined) return { kind: 'report', report: said.info.structured };
  const text = said.parts.flatMap((part) => (part.type === 'text' && !part.synthetic ? [part.text] : [])).join('\n');
  const report = lastJsonObject(text);
  if (report !== undefined) return { kind: 'report', report };
  const reason = text.trim() === '' ? 'it ended without an answer' : 'its answer has no complete JSON object';
  return { kind: 'no-report', reason: `no report: ${reason}` };
}

export function modelOf({ providerID, modelID }: Pick<AssistantMessage, 'providerID' | 'modelID'>): string {
  return `${providerID}/${modelID}`;
}

/** OpenCode falls back to another agent without an error. */
function wrongOne({ agent, providerID, modelID, summary }: AssistantMessage, asked: TurnRequest): string | undefined {
  // The program's own agent summarises a compaction.
  if (summary === true) return undefined;
  if (agent !== asked.agent) return `the agent ${agent} answered instead of ${asked.agent}: nothing it did counts`;
  const model = modelOf({ providerID, modelID });
  if (asked.model === undefined || model === asked.model) return undefined;
  return `the model ${model} answered instead of ${asked.model}`;
}

function readError(error: ProgramError, asked: TurnRequest): Answer {
  switch (error.name) {
    case 'ProviderAuthError':
      return trouble({ reason: `opencode: ${error.data.message}`, remedy: LOG_IN });
    case 'APIError':
      return readApiError(error.data, asked);
    case 'MessageAbortedError':
      return trouble({ reason: 'opencode: another client aborted the session' });
    case 'ContextOverflowError':
      return failed(`it does not fit into the model's context: ${error.data.message}`);
    case 'MessageOutputLengthError':
      return failed('the answer was longer than the model may write');
    default:
      return failed(`opencode: ${error.name}: ${messageOf(error)}`);
  }
}

type ApiFailure = Extract<ProgramError, { name: 'APIError' }>['data'];

function readApiError(failure: ApiFailure, asked: TurnRequest): Answer {
  const { statusCode: status, message, isRetryable } = failure;
  const reason = `opencode: ${message}${status === undefined ? '' : ` (HTTP ${status})`}`;
  if (status === 401 || status === 403) return trouble({ reason, remedy: LOG_IN });
  if (status === 402)
    return trouble({ reason, remedy: 'the account has no credit left: add credit with the provider' });
  if (status === 404) {
    const remedy = `\`opencode models\` lists the models; correct \`model: ${asked.model ?? ''}\``;
    return trouble({ reason, remedy });
  }
  if (status === 429) return trouble({ reason: `rate limited, ${reason}`, ...untilOf(failure) });
  if (isRetryable || status === undefined || status === 408 || status >= 500) return trouble({ reason });
  return failed(reason);
}

/** When the provider will serve again. The program already waited for a short pause, so that says nothing. */
function untilOf({ responseHeaders = {} }: ApiFailure): { until?: number } {
  const seconds = Number(responseHeaders['retry-after']);
  return seconds > SHORT_PAUSE_SECONDS ? { until: Date.now() + seconds * 1000 } : {};
}

function messageOf({ data }: ProgramError): string {
  return 'message' in data && typeof data.message === 'string' ? data.message : JSON.stringify(data);
}

function trouble(each: Trouble): Answer {
  return { kind: 'trouble', trouble: each };
}

function failed(reason: string): Answer {
  return { kind: 'failed', reason };
}
