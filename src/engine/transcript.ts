import type { Emit, TranscriptEntry, TranscriptHappening } from '../core/events.ts';
import type { Mask, MaskStream } from '../core/mask.ts';

/** What is said in one session, on its way to a file; secrets do not get there, also when they come in pieces. */
export class Transcript implements Disposable {
  readonly #emit: Emit;
  readonly #mask: Mask;
  readonly #subject: () => Omit<TranscriptHappening, 'type' | 'entry'>;
  readonly #streams: Record<'output' | 'error', MaskStream>;

  constructor(emit: Emit, mask: Mask, subject: () => Omit<TranscriptHappening, 'type' | 'entry'>) {
    this.#emit = emit;
    this.#mask = mask;
    this.#subject = subject;
    this.#streams = { output: mask.stream(), error: mask.stream() };
  }

  readonly add = ({ kind, text }: TranscriptEntry): void => {
    const isStream = kind === 'output' || kind === 'error';
    this.#say(kind, isStream ? this.#streams[kind].push(text) : this.#mask.text(text));
  };

  #say(kind: TranscriptEntry['kind'], text: string): void {
    if (text !== '') this.#emit({ type: 'transcript', ...this.#subject(), entry: { kind, text } });
  }

  /** What was held back because it might have been the beginning of a secret. */
  [Symbol.dispose](): void {
    for (const kind of ['output', 'error'] as const) this.#say(kind, this.#streams[kind].end());
  }
}
