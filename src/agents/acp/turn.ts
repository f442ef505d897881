import type { SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { Call } from './rules.ts';

/** A report is a few kilobytes at the end. */
const KEEP_CHARACTERS = 1024 * 1024;
const READING = ['read', 'search', 'think', 'fetch'];

/** Reads the updates of a session, over all its turns. */
export class AcpUpdates {
  readonly #transcript: (entry: TranscriptEntry) => void;
  readonly #onDone: (call: Call) => void;
  readonly #calls = new Map<string, { call: Call; tool: string; isTold: boolean }>();
  #lastMessage: string | undefined;
  /** Text comes in small pieces, and a secret may be split anywhere. */
  #thought = '';
  /** The text since `begin` and since the last tool call. */
  text = '';
  isCompacted = false;
  /** The cost of the whole session, in US dollars. */
  cost: number | undefined;

  /** `onDone`: called for each finished tool call. */
  constructor(transcript: (entry: TranscriptEntry) => void, onDone: (call: Call) => void) {
    this.#transcript = transcript;
    this.#onDone = onDone;
  }

  begin(): void {
    this.text = '';
    this.isCompacted = false;
  }

  /** Ends the turn, and the last thought. */
  end(): void {
    const text = this.#thought;
    this.#thought = '';
    if (text !== '') this.#transcript({ kind: 'note', text });
  }

  readonly read = (update: SessionUpdate): void => {
    if (update.sessionUpdate === 'agent_thought_chunk') {
      if (update.content.type === 'text') this.#thought += update.content.text;
      return;
    }
    if (update.sessionUpdate !== 'usage_update') this.end();
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        if (update.content.type === 'text') this.#say(update.content.text, update.messageId ?? undefined);
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#follow(update);
        break;
      case 'usage_update':
        if (update.cost?.currency === 'USD') this.cost = update.cost.amount;
        break;
      case 'compaction_update':
        if (update.status === 'completed') this.isCompacted = true;
    }
  };

  /** What is known of a call when the program asks about it. */
  callOf(update: ToolCallUpdate): Call {
    this.end();
    this.#merge(update);
    this.#tell(update.toolCallId);
    return this.#calls.get(update.toolCallId)!.call;
  }

  #say(text: string, message: string | undefined): void {
    const gap = this.text !== '' && message !== this.#lastMessage ? '\n' : '';
    this.#lastMessage = message;
    this.text = (this.text + gap + text).slice(-KEEP_CHARACTERS);
    if (text !== '') this.#transcript({ kind: 'text', text });
  }

  #follow(update: ToolCall | ToolCallUpdate): void {
    this.#merge(update);
    const { status } = update;
    if (status !== 'completed' && status !== 'failed') return;
    this.text = '';
    this.#tell(update.toolCallId);
    const { call, tool } = this.#calls.get(update.toolCallId)!;
    this.#calls.delete(update.toolCallId);
    this.#transcript({ kind: 'tool-result', tool, text: resultOf(update), isError: status === 'failed' });
    if (status === 'completed') this.#onDone(call);
  }

  /**
   * The input of a call comes in pieces. It is recorded when it is complete: when the program asks about it, or it is
   * done.
   */
  #tell(id: string): void {
    const known = this.#calls.get(id)!;
    if (known.isTold) return;
    known.isTold = true;
    const { kind, input, title } = known.call;
    const text = JSON.stringify(input ?? { title });
    this.#transcript({ kind: 'tool-call', tool: known.tool, text, mayWrite: !READING.includes(kind) });
  }

  #merge(update: ToolCall | ToolCallUpdate): void {
    const known = this.#calls.get(update.toolCallId);
    const before = known?.call;
    const title = update.title ?? before?.title ?? 'tool';
    const call: Call = {
      title: known ? before!.title : title,
      kind: update.kind ?? before?.kind ?? 'other',
      input: isEmpty(update.rawInput) ? before?.input : update.rawInput,
      paths: [...(before?.paths ?? []), ...pathsIn(update)],
    };
    if (known) known.call = call;
    else this.#calls.set(update.toolCallId, { call, tool: update.name ?? title, isTold: false });
  }
}

function isEmpty(input: unknown): boolean {
  return input == null || (typeof input === 'object' && Object.keys(input).length === 0);
}

function pathsIn({ locations, content }: ToolCall | ToolCallUpdate): string[] {
  const diffs = (content ?? []).flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...(locations ?? []).map(({ path }) => path), ...diffs];
}

function resultOf({ content, rawOutput }: ToolCall | ToolCallUpdate): string {
  const text = (content ?? []).map(textOf).join('\n');
  if (text !== '') return text;
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput ?? '');
}

function textOf(part: ToolCallContent): string {
  if (part.type === 'content') return part.content.type === 'text' ? part.content.text : `(${part.content.type})`;
  return part.type === 'diff' ? part.path : '';
}
