import { spellings } from './spellings.ts';

/** Shorter values (`1`, `true`, `8080`) are in every text, and masking them would wreck it. */
const SHORTEST = 6;

/** One way to write a value: a list of units, each with its spellings. A line break may stand between any two. */
export interface Form {
  readonly units: readonly (readonly string[])[];
  /** Hexadecimal bytes also come as `73 6b`, `73:6b` and `0x73, 0x6b`. */
  readonly isSpaced: boolean;
}

/** All the ways in which programs write a value that are looked for. */
export function formsOf(value: string): Form[] {
  const trimmed = value.trim();
  // Tools print the lines of a key one by one, with something before each.
  const lines = trimmed.includes('\n') ? trimmed.split(/\r?\n/).map((line) => line.trim()) : [];
  const raws = new Set([value, trimmed, ...lines].filter((raw) => raw.length >= SHORTEST));
  return [...raws].flatMap((raw) => [
    { units: [...raw].map(spellings), isSpaced: false },
    ...base64Texts(raw).map((text) => ({ units: [...text].map(base64Spellings), isSpaced: false })),
    { units: [...Buffer.from(raw)].map(hexSpellings), isSpaced: true },
  ]);
}

/**
 * The value alone, and the part of the encoding that is the same whatever stands before and after it: `user:value`, or a
 * value with the newline that `echo` adds.
 */
function base64Texts(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  const whole = bytes.toString('base64');
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Each character holds 6 bits: only those that hold nothing but bits of the value.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const texts = new Set([whole, whole.replace(/=+$/, ''), ...inside]);
  return [...texts].filter((text) => text.length >= SHORTEST);
}

const BASE64URL: Readonly<Record<string, string>> = { '+': '-', '/': '_' };

function base64Spellings(character: string): readonly string[] {
  const other = BASE64URL[character];
  return other === undefined ? spellings(character) : [...spellings(character), other];
}

function hexSpellings(byte: number): readonly string[] {
  const lower = byte.toString(16).padStart(2, '0');
  const upper = lower.toUpperCase();
  return lower === upper ? [lower] : [lower, upper];
}
