import type { TranscriptEntry } from '../../core/model/events.ts';

/** The total of a session so far. */
export interface Totals {
  readonly input: number;
  readonly output: number;
}

/** Reads the output of `codex exec --json`: one turn. */
export class CodexEvents {
  readonly #transcript: (entry: TranscriptEntry) => void;
  readonly #started = new Set<string>();
  threadId: string | undefined;
  /** The last message of this turn. */
  text = '';
  totals: Totals | undefined;
  /** Why the turn failed. */
  failure: string | undefined;

  constructor(transcript: (entry: TranscriptEntry) => void) {
    this.#transcript = transcript;
  }

  readonly read = (object: Record<string, unknown>): void => {
    const event = object as Event;
    switch (event.type) {
      case 'thread.started':
        this.threadId = event.thread_id;
        break;
      case 'item.started':
        this.#tell(event.item, false);
        break;
      case 'item.completed':
        this.#tell(event.item, true);
        break;
      case 'error':
        this.#transcript({ kind: 'error', text: event.message ?? '' });
        break;
      case 'turn.failed':
        this.failure = event.error?.message ?? 'the turn failed';
        break;
      case 'turn.completed':
        this.totals = totalsOf(event.usage);
    }
  };

  #tell(item: Item | undefined, isCompleted: boolean): void {
    if (!item) return;
    const tool = toolOf(item);
    if (tool) {
      // A call that is refused at once was never started.
      if (!this.#started.has(item.id)) this.#transcript({ kind: 'tool-call', ...tool });
      this.#started.add(item.id);
      if (!isCompleted) return;
      const isError = item.status === 'failed' || item.status === 'declined';
      this.#transcript({ kind: 'tool-result', tool: tool.tool, text: resultOf(item), isError });
    } else if (isCompleted) {
      const text = item.text ?? item.message ?? '';
      if (item.type === 'agent_message') this.text = text;
      const kind = item.type === 'agent_message' ? 'text' : item.type === 'error' ? 'error' : 'note';
      if (text !== '') this.#transcript({ kind, text });
    }
  }
}

interface Event {
  readonly type?: string;
  readonly thread_id?: string;
  readonly message?: string;
  readonly error?: { readonly message?: string };
  readonly usage?: RawUsage;
  readonly item?: Item;
}

interface RawUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

interface Item {
  readonly id: string;
  readonly type: string;
  readonly status?: string;
  /** agent_message, reasoning */
  readonly text?: string;
  /** error: a warning, the turn continues */
  readonly message?: string;
  /** command_execution */
  readonly command?: string;
  readonly aggregated_output?: string;
  /** file_change */
  readonly changes?: unknown;
  /** mcp_tool_call */
  readonly server?: string;
  readonly tool?: string;
  readonly arguments?: unknown;
  readonly result?: { readonly content?: readonly { readonly text?: string }[] } | null;
  readonly error?: { readonly message?: string } | null;
}

/** Cached input is a part of the input. */
export function totalsOf(usage: RawUsage | undefined): Totals {
  return { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 };
}

/** With the names that the model uses. A command may always write: the sandbox decides where. */
function toolOf(item: Item): { tool: string; text: string; mayWrite: boolean } | undefined {
  switch (item.type) {
    case 'command_execution':
      return { tool: 'exec_command', text: JSON.stringify({ cmd: item.command }), mayWrite: true };
    case 'file_change':
      return { tool: 'apply_patch', text: JSON.stringify(item.changes), mayWrite: true };
    case 'mcp_tool_call':
      return { tool: `${item.server}.${item.tool}`, text: JSON.stringify(item.arguments ?? {}), mayWrite: true };
    default:
      return undefined;
  }
}

function resultOf({ aggregated_output, result, error }: Item): string {
  if (error?.message !== undefined) return error.message;
  return aggregated_output ?? (result?.content ?? []).map(({ text = '' }) => text).join('\n');
}
