/** Longer than any event that matters; what is longer is passed over. */
const LONGEST_LINE = 32 * 1024 * 1024;

/** Cuts a stream into lines, in bounded memory. */
export class Lines {
  readonly #onLine: (line: string) => void;
  #parts: string[] = [];
  #length = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      this.#keep(text.slice(start, end));
      this.end();
      start = end + 1;
    }
    this.#keep(text.slice(start));
  }

  /** What stands after the last line break is a line too. */
  end(): void {
    const line = this.#parts.join('');
    const isWhole = this.#length <= LONGEST_LINE;
    this.#parts = [];
    this.#length = 0;
    if (isWhole && line !== '') this.#onLine(line);
  }

  #keep(part: string): void {
    this.#length += part.length;
    if (this.#length <= LONGEST_LINE) this.#parts.push(part);
    else this.#parts = [];
  }
}
