import type { GlobalEvent, Message, Part, SessionStatus } from '@opencode-ai/sdk/v2/client';
import type { TranscriptEntry } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { sum } from '../../core/model/usage.ts';
import { type LastMessage, lastMessageIn, usageOf } from './answer.ts';
import { isReading } from './config.ts';

export type ServerEvent = GlobalEvent['payload'];

type Retry = Extract<SessionStatus, { type: 'retry' }>;
type SessionFailure = Extract<ServerEvent, { type: 'session.error' }>['properties']['error'];

/** The events that a session needs while it waits for an answer. */
export interface Listener {
  busy(): void;
  /** It asks the model now, or receives its answer. */
  setOut(): void;
  idle(): void;
  failed(error: NonNullable<SessionFailure>): void;
  retrying(retry: Retry): void;
  /** It waits for a person's answer, and none will come. */
  asked(what: string): void;
}

/** Writes the events of one session and its children to the transcript; each thing once, when it is complete. */
export class EventReader {
  readonly #transcript: (entry: TranscriptEntry) => void;
  readonly #listener: Listener;
  readonly #after: string;
  readonly #told = new Set<string>();
  #last: { readonly info: Message; readonly parts: readonly Part[] } | undefined;
  #hasMissed = false;
  compacted = false;
  /** What the session itself spent in this turn. */
  own: Usage = {};
  /** What child sessions spent: the program omits it from the total of their parent. */
  ofChildren: Usage = {};

  /** `after`: the last message before this turn. Older ones may still be updated or repeated. */
  constructor(transcript: (entry: TranscriptEntry) => void, listener: Listener, after: string) {
    this.#transcript = transcript;
    this.#listener = listener;
    this.#after = after;
  }

  /** Events were lost: whether the turn has ended must be asked. */
  miss(): void {
    this.#hasMissed = true;
  }

  /** The last known message. */
  get last(): string {
    return this.#last?.info.id ?? this.#after;
  }

  /** The answer, if all of it was received. */
  get said(): LastMessage | undefined {
    return this.#hasMissed ? undefined : lastMessageIn(this.#last, this.#after);
  }

  /** An answer began, and its end will be reported. */
  get isAnswering(): boolean {
    return !this.#hasMissed && this.#last?.info.role === 'assistant' && this.said === undefined;
  }

  /** `isOwn`: of the session itself, and not of one of its children. */
  hear(event: ServerEvent, isOwn: boolean): void {
    switch (event.type) {
      case 'message.part.updated':
        this.#part(event.properties.part, isOwn);
        return;
      case 'permission.asked': {
        const { permission, patterns } = event.properties;
        this.#listener.asked(`permission, which nobody can give: ${permission} ${patterns.join(', ')}`.trim());
        return;
      }
      case 'question.asked':
        this.#listener.asked('an answer to a question');
        return;
    }
    if (!isOwn) return;
    if (event.type === 'message.updated') this.#message(event.properties.info);
    if (event.type === 'session.compacted') {
      this.compacted = true;
      this.#transcript({ kind: 'note', text: 'the session was compacted' });
    }
    if (event.type === 'session.idle') this.#listener.idle();
    if (event.type === 'session.error' && event.properties.error) this.#failed(event.properties.error);
    if (event.type === 'session.status') this.#status(event.properties.status);
  }

  #status(status: SessionStatus): void {
    if (status.type === 'busy') this.#listener.busy();
    if (status.type !== 'retry') return;
    const { attempt, message } = status;
    this.#transcript({ kind: 'note', text: `opencode retries the model (attempt ${attempt}): ${message}` });
    this.#listener.retrying(status);
  }

  #failed(error: NonNullable<SessionFailure>): void {
    const message = 'message' in error.data ? String(error.data.message) : '';
    this.#transcript({ kind: 'error', text: `${error.name}: ${message}\n` });
    this.#listener.failed(error);
  }

  /** Ids ascend; an older message may be repeated. */
  #message(info: Message): void {
    if (info.id === this.#last?.info.id) this.#last = { ...this.#last, info };
    else if (info.id > this.last) this.#last = { info, parts: [] };
  }

  #part(part: Part, isOwn: boolean): void {
    if (isOwn && part.messageID <= this.#after) return;
    if (this.#last && part.messageID === this.#last.info.id) {
      const others = this.#last.parts.filter(({ id }) => id !== part.id);
      this.#last = { ...this.#last, parts: [...others, part] };
    }
    switch (part.type) {
      case 'step-start':
        if (isOwn) this.#listener.setOut();
        return;
      case 'text':
        // Only text of the model has an end; prompts have none.
        if (part.time?.end !== undefined && part.text !== '' && this.#isNew(part.id)) {
          this.#transcript({ kind: 'text', text: part.text });
        }
        return;
      case 'step-finish':
        if (!this.#isNew(part.id)) return;
        if (isOwn) this.own = sum(this.own, usageOf(part));
        else this.ofChildren = sum(this.ofChildren, usageOf(part));
        this.#transcript({ kind: 'usage', usage: usageOf(part) });
        return;
      case 'tool': {
        const { tool, state, callID } = part;
        if (state.status === 'pending') return;
        if (this.#isNew(`${callID} call`)) {
          this.#transcript({ kind: 'tool-call', tool, text: JSON.stringify(state.input), mayWrite: !isReading(tool) });
        }
        if (state.status === 'running' || !this.#isNew(`${callID} result`)) return;
        const isError = state.status === 'error';
        this.#transcript({ kind: 'tool-result', tool, text: isError ? state.error : state.output, isError });
      }
    }
  }

  #isNew(id: string): boolean {
    if (this.#told.has(id)) return false;
    this.#told.add(id);
    return true;
  }
}
