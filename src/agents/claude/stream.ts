import type { TranscriptEntry } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { isRecord, JsonLines } from '../json-lines.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is in force in a session, as the program reports it before it asks its model. */
export interface InForce {
  readonly tools: readonly string[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  readonly model: string;
  readonly permissionMode: string;
}

/** How a turn ended. */
export interface Ending {
  readonly subtype: string;
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
  /** The status of the last request, if it was refused. */
  readonly status?: number;
  /** A more specific kind than the status: `usage_limit_reached`. */
  readonly kind?: string;
  /** Why the turn ended: `completed`, `api_error`, `prompt_too_long`. */
  readonly why: string;
  readonly denied: readonly string[];
  /** Totals of the whole session, including earlier questions. */
  readonly total: Usage;
}

/** The program's tools that only read. Those of servers are unknown. */
const READING = new Set(['Read', 'Glob', 'Grep', 'StructuredOutput']);

/**
 * Reads one run of `claude -p --output-format stream-json`: into the transcript at once, and as fields when it is
 * over.
 */
export class ClaudeStream {
  readonly #transcript: (entry: TranscriptEntry) => void;
  readonly #onInForce: (inForce: InForce) => void;
  readonly #lines: JsonLines;
  readonly #toolNames = new Map<string, string>();
  /** By message. A message comes in pieces that all have the same usage. */
  readonly #used = new Map<string, { inputTokens: number; outputTokens: number }>();
  inForce: InForce | undefined;
  ending: Ending | undefined;
  /** The program's error name if the model could not be asked: `authentication_failed`, `rate_limit`. */
  error: string | undefined;
  /** When the account's quota resets, if it is used up. Milliseconds since 1970. */
  limitEnds: number | undefined;
  compacted = false;
  /** The model's text since its last tool call. */
  said = '';

  constructor(transcript: (entry: TranscriptEntry) => void, onInForce: (inForce: InForce) => void) {
    this.#transcript = transcript;
    this.#onInForce = onInForce;
    this.#lines = new JsonLines(
      (event) => this.#read(event),
      (line) => transcript({ kind: 'output', text: `${line}\n` }),
    );
  }

  add(text: string): void {
    this.#lines.add(text);
  }

  end(): void {
    this.#lines.end();
  }

  /** For a run that did not finish: the output tokens of the last answers are unknown. */
  get usedSoFar(): Usage {
    const used = [...this.#used.values()];
    if (used.length === 0) return {};
    const all = { inputTokens: 0, outputTokens: 0 };
    for (const each of used) {
      all.inputTokens += each.inputTokens;
      all.outputTokens += each.outputTokens;
    }
    return all;
  }

  #read(event: Fields): void {
    if (event.type === 'assistant') this.#readAssistant(event);
    else if (event.type === 'user') this.#readUser(event);
    else if (event.type === 'system') this.#readSystem(event);
    else if (event.type === 'rate_limit_event') this.#readLimit(fields(event.rate_limit_info));
    else if (event.type === 'result') this.ending = readEnding(event);
  }

  #readSystem(event: Fields): void {
    if (event.subtype === 'init') {
      this.inForce = readInForce(event);
      this.#note(`claude ${text(event.claude_code_version)}, model ${this.inForce.model}`);
      this.#onInForce(this.inForce);
    } else if (event.subtype === 'api_retry') {
      const status = typeof event.error_status === 'number' ? `HTTP ${event.error_status}, ` : '';
      const seconds = (number(event.retry_delay_ms) / 1000).toFixed(1);
      const count = `${number(event.attempt)} of ${number(event.max_retries)}`;
      this.#note(`the model could not be asked (${status}${text(event.error)}): again in ${seconds} s (${count})`);
    } else if (event.subtype === 'compact_boundary') {
      this.compacted = true;
      this.#note('the session was compacted');
    }
  }

  #readLimit(limit: Fields): void {
    if (limit.status !== 'rejected') return;
    // The program uses seconds.
    if (typeof limit.resetsAt === 'number') this.limitEnds = limit.resetsAt * 1000;
    this.#note(`the usage limit is reached (${text(limit.rateLimitType)})`);
  }

  #readAssistant(event: Fields): void {
    const message = fields(event.message);
    const failed = typeof event.error === 'string';
    if (failed) this.error = event.error as string;
    else this.#count(message);
    for (const block of blocks(message)) {
      if (block.type === 'text' && block.text !== '') {
        if (!failed) this.said += `${text(block.text)}\n`;
        this.#transcript({ kind: failed ? 'error' : 'text', text: text(block.text) });
      } else if (block.type === 'tool_use') {
        this.said = '';
        const tool = text(block.name);
        this.#toolNames.set(text(block.id), tool);
        const input = JSON.stringify(block.input ?? {});
        this.#transcript({ kind: 'tool-call', tool, text: input, mayWrite: !READING.has(tool) });
      }
    }
  }

  #count(message: Fields): void {
    const used = fields(message.usage);
    const cached = number(used.cache_read_input_tokens) + number(used.cache_creation_input_tokens);
    const inputTokens = number(used.input_tokens) + cached;
    this.#used.set(text(message.id), { inputTokens, outputTokens: number(used.output_tokens) });
  }

  #readUser(event: Fields): void {
    for (const block of blocks(fields(event.message))) {
      if (block.type === 'tool_result') {
        const tool = this.#toolNames.get(text(block.tool_use_id)) ?? '';
        const isError = block.is_error === true;
        this.#transcript({ kind: 'tool-result', tool, text: resultText(block.content), isError });
      } else if (block.type === 'text' && event.isSynthetic === true) {
        this.#note(text(block.text));
      }
    }
  }

  #note(line: string): void {
    this.#transcript({ kind: 'note', text: line });
  }
}

function readInForce(event: Fields): InForce {
  return {
    tools: list(event.tools).map(text),
    servers: list(event.mcp_servers).map((each) => ({
      name: text(fields(each).name),
      status: text(fields(each).status),
    })),
    model: text(event.model),
    permissionMode: text(event.permissionMode),
  };
}

function readEnding(event: Fields): Ending {
  const errors = list(event.errors).map(text).join('; ');
  return {
    subtype: text(event.subtype),
    isError: event.is_error === true,
    text: typeof event.result === 'string' ? event.result : errors,
    structured: event.structured_output,
    ...(typeof event.api_error_status === 'number' ? { status: event.api_error_status } : {}),
    ...(typeof event.api_error === 'string' ? { kind: event.api_error } : {}),
    why: text(event.terminal_reason),
    denied: list(event.permission_denials).map((each) => text(fields(each).tool_name)),
    total: readTotal(event),
  };
}

/** For an unknown model the program makes up a price: ignore it. */
function readTotal(event: Fields): Usage {
  let inputTokens = 0;
  let outputTokens = 0;
  let priced = true;
  for (const model of Object.values(fields(event.modelUsage)).map(fields)) {
    const cached = number(model.cacheReadInputTokens) + number(model.cacheCreationInputTokens);
    inputTokens += number(model.inputTokens) + cached;
    outputTokens += number(model.outputTokens);
    if (model.costBasis === 'unknown') priced = false;
  }
  const cost = number(event.total_cost_usd);
  const known = priced && (cost > 0 || inputTokens + outputTokens === 0);
  return { inputTokens, outputTokens, ...(known ? { costUsd: cost } : {}) };
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = list(content).map(fields);
  return parts.map((part) => (part.type === 'text' ? text(part.text) : `[${text(part.type)}]`)).join('\n');
}

function blocks(message: Fields): readonly Fields[] {
  return list(message.content).map(fields);
}

function fields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
