import { StringDecoder } from 'node:string_decoder';
import type { Mask, MaskStream } from '../../core/text/mask.ts';

export type StreamName = 'stdout' | 'stderr';

export interface OutputTail {
  readonly text: string;
  /** There was more before it. */
  readonly cut: boolean;
}

/** How much is kept for messages: enough for `lastLines`. */
const RECENT_CHARACTERS = 4096;

/** The end of the output, for messages: masked before it was cut. `both`: in order of arrival. */
export type Recent = Readonly<Record<StreamName | 'both', string>>;

/** The output of a program, in bounded memory. */
export class Output {
  readonly #tails: Record<StreamName, Tail>;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #onText: ((stream: StreamName, text: string) => void) | undefined;
  readonly #masks: Record<StreamName, MaskStream>;
  readonly #recent: Record<StreamName | 'both', string> = { stdout: '', stderr: '', both: '' };

  constructor(keepBytes: number, mask: Mask, onText?: (stream: StreamName, text: string) => void) {
    this.#tails = { stdout: new Tail(keepBytes), stderr: new Tail(keepBytes) };
    this.#masks = { stdout: mask.stream(), stderr: mask.stream() };
    this.#onText = onText;
  }

  add(stream: StreamName, bytes: Buffer): void {
    this.#tails[stream].add(bytes);
    this.#pass(stream, this.#decoders[stream].write(bytes));
  }

  end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#pass(stream, this.#decoders[stream].end());
      this.#remember(stream, this.#masks[stream].end());
    }
  }

  kept(): { stdout: OutputTail; stderr: OutputTail; recent: Recent } {
    return { stdout: this.#tails.stdout.kept(), stderr: this.#tails.stderr.kept(), recent: this.#recent };
  }

  #pass(stream: StreamName, text: string): void {
    if (text === '') return;
    this.#remember(stream, this.#masks[stream].push(text));
    this.#onText?.(stream, text);
  }

  #remember(stream: StreamName, masked: string): void {
    for (const each of [stream, 'both'] as const) {
      this.#recent[each] = (this.#recent[each] + masked).slice(-RECENT_CHARACTERS);
    }
  }
}

/** The last bytes of a stream. Holds up to twice as many, so that each byte is moved about once. */
class Tail {
  readonly #keep: number;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #cut = false;

  constructor(keepBytes: number) {
    this.#keep = keepBytes;
  }

  add(bytes: Buffer): void {
    const chunk = bytes.length > this.#keep ? bytes.subarray(bytes.length - this.#keep) : bytes;
    if (chunk.length < bytes.length) this.#cut = true;
    this.#makeRoom(chunk.length);
    chunk.copy(this.#buffer, this.#length);
    this.#length += chunk.length;
  }

  kept(): OutputTail {
    let start = Math.max(0, this.#length - this.#keep);
    const cut = this.#cut || start > 0;
    // Starts with a whole character: a continuation byte is 10xxxxxx, and there are at most three.
    for (let i = 0; cut && i < 3 && (this.#buffer[start] ?? 0) >> 6 === 0b10; i++) start++;
    return { text: this.#buffer.toString('utf8', start, this.#length), cut };
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    if (needed <= 2 * this.#keep) {
      const grown = Buffer.alloc(Math.min(Math.max(needed, 2 * this.#buffer.length, 1024), 2 * this.#keep));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
      return;
    }
    const start = Math.max(0, this.#length - this.#keep);
    if (start > 0) this.#cut = true;
    this.#buffer.copyWithin(0, start, this.#length);
    this.#length -= start;
    if (this.#length + bytes > this.#buffer.length) this.#makeRoom(bytes);
  }
}

/** The end of a program's output, short enough for a reason. */
export function lastLines(text: string, lines = 10, characters = 1000): string {
  const all = text.trimEnd();
  const tail = all.split('\n').slice(-lines).join('\n').trimStart();
  return tail.length > characters ? `...${tail.slice(3 - characters)}` : tail;
}
