import type { Emit, TranscriptEntry, TranscriptHappening } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { rest, sum } from '../../core/model/usage.ts';
import type { Mask, MaskStream } from '../../core/text/mask.ts';

type Subject = Omit<TranscriptHappening, 'type' | 'entry'> & { readonly agent: string };
type Streamed = 'text' | 'output' | 'error';

/**
 * Writes what is said in one session to a file, masking secrets even if they arrive in pieces. Usage is reported as
 * it is spent, so that little is lost if the run is killed.
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
    // The text before is complete; but two streams of a program arrive in any order.
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
   * An answer has arrived, with its total usage, part of which may have been reported already. Reported usage counts
   * even if the answer leaves it out. Returns the total.
   */
  settle(usage: Usage | undefined): Usage {
    const untold = usage && rest(usage, this.#told);
    if (untold) this.#spend(untold);
    const all = sum(this.#told, untold);
    this.#told = {};
    return all;
  }

  /** The inputs of tool calls that may have written, since the last call of this method. */
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

  /** Text that was held back because it might be the beginning of a secret. */
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
