import { createUnit, spellings, type Unit } from './spellings.ts';

/** Shorter values (`1`, `true`, `8080`) occur in every text, and masking them would ruin it. */
const SHORTEST = 6;

/** One way to write a value. */
export interface Form {
  readonly units: readonly Unit[];
  /** Its letters and digits may be escaped, too. */
  readonly isText?: boolean;
  /** Hexadecimal bytes may also be written as `73 6b`, `73:6b` and `0x73, 0x6b`. */
  readonly isSpaced?: boolean;
  /** No line break occurs between its units. */
  readonly isUnbroken?: boolean;
}

/** All the ways to write a value that are searched for. */
export function formsOf(value: string): Form[] {
  const trimmed = value.trim();
  // Tools print the lines of a key one by one, with a prefix.
  const lines = trimmed.includes('\n') ? trimmed.split(/\r?\n/).map((line) => line.trim()) : [];
  const raws = new Set([value, trimmed, ...lines].filter((raw) => raw.length >= SHORTEST));
  const forms = [...raws].flatMap((raw): Form[] => [
    { units: [...raw].map(textUnit), isText: true },
    ...base64Texts(raw).map((text) => ({ units: [...text].map(base64Unit) })),
    { units: [...Buffer.from(raw)].map(hexUnit), isSpaced: true },
  ]);
  return trimmed.length < SHORTEST ? forms : [...forms, ...twiceInBase64(trimmed)];
}

/** Base64 of base64, of the whole value only: a key has many lines. */
function twiceInBase64(value: string): Form[] {
  const whole = base64Of(base64Of(value));
  const inside = base64Insides(value).flatMap(base64Insides);
  return [whole, ...inside].map((text) => ({ units: [...text].map(base64Unit), isUnbroken: true }));
}

/**
 * The value alone, and the part of the encoding that is independent of what surrounds it: `user:value`, or a value
 * with the newline that `echo` adds.
 */
function base64Texts(value: string): string[] {
  const whole = base64Of(value);
  const texts = new Set([whole, whole.replace(/=+$/, ''), ...base64Insides(value)]);
  return [...texts].filter((text) => text.length >= SHORTEST);
}

function base64Of(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

function base64Insides(value: string): string[] {
  const bytes = Buffer.from(value, 'utf8');
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Each character encodes 6 bits: only those that encode nothing but the value.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

const textUnit = remember((character: string) => createUnit(spellings(character)));

const BASE64URL: Readonly<Record<string, string>> = { '+': '-', '/': '_' };

const base64Unit = remember((character: string) => {
  const other = BASE64URL[character];
  return createUnit(other === undefined ? spellings(character) : [...spellings(character), other]);
});

const hexUnit = remember((byte: number) => {
  const lower = byte.toString(16).padStart(2, '0');
  return createUnit([lower, lower.toUpperCase()]);
});

function remember<K>(create: (key: K) => Unit): (key: K) => Unit {
  const known = new Map<K, Unit>();
  return (key) => {
    const unit = known.get(key) ?? create(key);
    known.set(key, unit);
    return unit;
  };
}
