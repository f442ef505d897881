/** Longer than any event of a program. Longer lines are skipped, so that memory stays bounded. */
const LONGEST = 32 * 1024 * 1024;

/**
 * Splits text into lines. Lines with a JSON object go to one callback, other lines that are not blank to the other.
 */
export class JsonLines {
  readonly #onObject: (object: Record<string, unknown>) => void;
  readonly #onOther: (line: string) => void;
  #pieces: string[] = [];
  #length = 0;

  constructor(onObject: (object: Record<string, unknown>) => void, onOther: (line: string) => void) {
    this.#onObject = onObject;
    this.#onOther = onOther;
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

  /** The last line may lack its end. */
  end(): void {
    const line = this.#length > LONGEST ? '' : this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    if (line.trim() === '') return;
    const value = parse(line);
    if (isRecord(value)) this.#onObject(value);
    else this.#onOther(line);
  }

  #keep(piece: string): void {
    this.#length += piece.length;
    if (this.#length > LONGEST) this.#pieces = [];
    else if (piece !== '') this.#pieces.push(piece);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
