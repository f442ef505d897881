import type { Emit, TranscriptEntry, TranscriptHappening } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { rest, sum } from '../../core/model/usage.ts';
import type { Mask, MaskStream } from '../../core/text/mask.ts';

type Subject = Omit<TranscriptHappening, 'type' | 'entry'> & { readonly agent: string };
type Streamed = 'text' | 'output' | 'error';

/**
 * The words of one session on their way to a file. Secrets are masked, also when they come in pieces.
 * What a session spends is told as it is spent, so that a run that is killed has told most of it.
 */
export class Transcript implements Disposable {
  readonly #emit: Emit;
  readonly #mask: Mask;
  readonly #subject: () => Subject;
  readonly #streams: Record<Streamed, MaskStream>;
  #told: Usage = {};
  #calls: string[] = [];

  constructor(emit: Emit, mask: Mask, subject: () => Subject) {
    this.#emit = emit;
    this.#mask = mask;
    this.#subject = subject;
    this.#streams = { text: mask.stream(), output: mask.stream(), error: mask.stream() };
  }

  readonly add = (entry: TranscriptEntry): void => {
    if (entry.kind === 'text' || entry.kind === 'output' || entry.kind === 'error') {
      this.#say(entry.kind, this.#streams[entry.kind].push(entry.text));
      return;
    }
    // What was said is over; two streams of a program, though, come in any order.
    this.#say('text', this.#streams.text.end());
    this.#streams.text = this.#mask.stream();
    if (entry.kind === 'usage') {
      this.#told = sum(this.#told, entry.usage);
      this.#spend(entry.usage);
    }
    if (entry.kind === 'tool-call' && entry.mayWrite) this.#calls.push(entry.text);
    this.#write('text' in entry ? { ...entry, text: this.#mask.text(entry.text) } : entry);
  };

  /**
   * An answer has come: what it cost in all, of which some may have been told already. What was told counts also where
   * the answer leaves it out; returns all of it.
   */
  settle(usage: Usage | undefined): Usage {
    const untold = usage && rest(usage, this.#told);
    if (untold) this.#spend(untold);
    const all = sum(this.#told, untold);
    this.#told = {};
    return all;
  }

  /** The inputs of the tools that may have written something, since this was asked last. */
  takeCalls(): readonly string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }

  #spend(usage: Usage): void {
    const { key: _, ...subject } = this.#subject();
    this.#emit({ type: 'usage:spent', ...subject, usage: sum({}, usage) });
  }

  #say(kind: Streamed, text: string): void {
    if (text !== '') this.#write({ kind, text });
  }

  #write(entry: TranscriptEntry): void {
    const { agent: _, ...subject } = this.#subject();
    this.#emit({ type: 'transcript', ...subject, entry });
  }

  /** What was held back because it might have been the beginning of a secret. */
  flush(): void {
    for (const kind of ['text', 'output', 'error'] as const) {
      this.#say(kind, this.#streams[kind].end());
      this.#streams[kind] = this.#mask.stream();
    }
  }

  [Symbol.dispose](): void {
    this.flush();
  }
}
