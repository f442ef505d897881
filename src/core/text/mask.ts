import { FormIndex } from './form-index.ts';

/**
 * Masks secrets in everything that is written to a transcript, the journal, the table or a terminal (rule S4):
 * replaces a value, or one of its usual encodings, with `[NAME]`. Mask a text before you cut it: half a value is not
 * found.
 */
export interface Mask {
  text(text: string): string;
  /** Plain JSON with every string masked, keys too. */
  deep<T>(json: T): T;
  /** Gives the same result as `text`, however the text is split into chunks. */
  stream(): MaskStream;
}

export interface MaskStream {
  /** What can be shown so far; a possible beginning of a value is held back until it is decided. */
  push(chunk: string): string;
  end(): string;
}

const masks = new WeakMap<object, Mask>();

/** The same mask for the same object: every item needs one, and most share their secrets. */
export function createMask(secrets: Readonly<Record<string, string>>): Mask {
  let mask = masks.get(secrets);
  if (!mask) {
    mask = buildMask(secrets);
    masks.set(secrets, mask);
  }
  return mask;
}

function buildMask(secrets: Readonly<Record<string, string>>): Mask {
  const index = new FormIndex(secrets);

  /** From left to right; the longest form wins. Unless `ended`, stops where more text would decide. */
  const scan = (text: string, ended: boolean): { shown: string; held: string } => {
    let shown = '';
    let copied = 0;
    const reading = { text, ended, progress: new Map() };
    let at = index.next(text, 0, ended);
    while (at < text.length) {
      const found = index.matchAt(reading, at);
      if (found === 'undecided') return { shown: shown + text.slice(copied, at), held: text.slice(at) };
      if (found) {
        shown += `${text.slice(copied, at)}[${found.name}]`;
        copied = found.end;
      }
      at = index.next(text, found?.end ?? at + 1, ended);
    }
    return { shown: shown + text.slice(copied), held: '' };
  };
  const text = (unsafe: string): string => scan(unsafe, true).shown;

  return {
    text,
    deep: (json) => maskDeep(json, text) as typeof json,
    stream() {
      let held = '';
      const take = (chunk: string, ended: boolean): string => {
        const result = scan(held + chunk, ended);
        held = result.held;
        return result.shown;
      };
      return { push: (chunk) => take(chunk, false), end: () => take('', true) };
    },
  };
}

/** Masks nothing. */
export const NO_MASK = createMask({});

function maskDeep(json: unknown, text: Mask['text']): unknown {
  if (typeof json === 'string') return text(json);
  if (Array.isArray(json)) return json.map((element) => maskDeep(element, text));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [text(key), maskDeep(value, text)]));
}
