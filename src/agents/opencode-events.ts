import type { GlobalEvent, Part, SessionStatus } from '@opencode-ai/sdk/v2/client';
import type { TranscriptEntry } from '../core/events.ts';
import { sum } from '../core/history.ts';
import type { Usage } from '../core/model.ts';
import { usageOf } from './opencode-answer.ts';
import { isReading } from './opencode-config.ts';

export type ServerEvent = GlobalEvent['payload'];

type Retry = Extract<SessionStatus, { type: 'retry' }>;
type SessionFailure = Extract<ServerEvent, { type: 'session.error' }>['properties']['error'];

/** What a session needs to hear while it waits for an answer. */
export interface Listener {
  idle(): void;
  failed(error: NonNullable<SessionFailure>): void;
  retrying(retry: Retry): void;
  /** Somebody would have to answer, and nobody is there. */
  asked(what: string): void;
}

/** Tells the events of one session and its children as a transcript; each thing once, when it is whole. */
export class EventReader {
  readonly #transcript: (entry: TranscriptEntry) => void;
  readonly #listener: Listener;
  readonly #told = new Set<string>();
  compacted = false;
  /** What child sessions have spent: the program leaves it out of the sum of their parent. */
  ofChildren: Usage = {};

  constructor(transcript: (entry: TranscriptEntry) => void, listener: Listener) {
    this.#transcript = transcript;
    this.#listener = listener;
  }

  /** `isOwn`: of the session itself, and not of one of its children. */
  hear(event: ServerEvent, isOwn: boolean): void {
    switch (event.type) {
      case 'message.part.updated':
        this.#part(event.properties.part, isOwn);
        return;
      case 'permission.asked': {
        const { permission, patterns } = event.properties;
        this.#listener.asked(`a permission that nobody can give: ${permission} ${patterns.join(', ')}`.trim());
        return;
      }
      case 'question.asked':
        this.#listener.asked('a question that nobody can answer');
        return;
    }
    if (!isOwn) return;
    if (event.type === 'session.compacted') {
      this.compacted = true;
      this.#transcript({ kind: 'note', text: 'the session was compacted' });
    }
    if (event.type === 'session.idle') this.#listener.idle();
    if (event.type === 'session.error' && event.properties.error) this.#failed(event.properties.error);
    if (event.type === 'session.status' && event.properties.status.type === 'retry') {
      const { attempt, message } = event.properties.status;
      this.#transcript({ kind: 'note', text: `opencode asks the model again, for the ${attempt}. time: ${message}` });
      this.#listener.retrying(event.properties.status);
    }
  }

  #failed(error: NonNullable<SessionFailure>): void {
    const message = 'message' in error.data ? String(error.data.message) : '';
    this.#transcript({ kind: 'error', text: `${error.name}: ${message}\n` });
    this.#listener.failed(error);
  }

  #part(part: Part, isOwn: boolean): void {
    switch (part.type) {
      case 'text':
        // Only what the model says has an end; prompts come without.
        if (part.time?.end !== undefined && part.text !== '' && this.#isNew(part.id)) {
          this.#transcript({ kind: 'text', text: part.text });
        }
        return;
      case 'step-finish':
        if (!this.#isNew(part.id)) return;
        if (!isOwn) this.ofChildren = sum(this.ofChildren, usageOf(part));
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
