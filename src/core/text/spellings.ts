/** One character or byte of a form, and how programs write it. */
export interface Unit {
  readonly plain: string;
  /** All spellings by their first character, including the plain one. */
  readonly byFirst: ReadonlyMap<string, readonly string[]>;
  /** Where the plain spelling matches, no other one and no line break can. */
  readonly isDecided: boolean;
}

/** Line breaks, and the characters before them, begin with one of these. */
export const BREAK_BEGINNINGS = '\r\n\\%&=';

/** The first spelling is the plain one. */
export function createUnit(spellings: readonly string[]): Unit {
  const [plain = '', ...others] = new Set(spellings);
  const byFirst = new Map<string, string[]>();
  for (const spelling of [plain, ...others]) {
    const first = spelling[0]!;
    byFirst.set(first, [...(byFirst.get(first) ?? []), spelling]);
  }
  const isAmbiguous = BREAK_BEGINNINGS.includes(plain[0]!) || others.some((other) => other.startsWith(plain));
  return { plain, byFirst, isDecided: !isAmbiguous };
}

/**
 * How programs write a character of a value: plain, or escaped for JSON, a shell, CSV, HTML, a URL or a mail, once or
 * nested. Letters and digits have one spelling; `escapes.ts` handles encoders that escape everything.
 */
export function spellings(character: string): readonly string[] {
  return /^[A-Za-z0-9]$/.test(character) ? [character] : spellAll(character);
}

const NAMED_IN_HTML: Readonly<Record<string, readonly string[]>> = {
  '&': ['amp'],
  '<': ['lt'],
  '>': ['gt'],
  '"': ['quot'],
  "'": ['apos'],
  '/': ['sol'],
  '=': ['equals'],
  '+': ['plus'],
};

const NAMED_BY_BACKSLASH: Readonly<Record<string, string>> = {
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '\b': 'b',
  '\f': 'f',
};

/** What one, two and three encoders in a row make of one backslash, and of one that escapes a character. */
const BACKSLASHES = [1, 2, 3, 4, 7, 8].map((count) => '\\'.repeat(count));

function spellAll(character: string): string[] {
  return [
    character,
    ...backslashForms(character),
    ...quoteForms(character),
    ...htmlForms(character),
    ...urlForms(character),
    ...byteForms(character, '='),
    ...(character === '\n' ? ['\r\n'] : []),
  ];
}

/** JSON, JSON in JSON, `\x27` and `\047` of C and of `printf %q`, `\$` of a shell, `\/` of PHP. */
function backslashForms(character: string): string[] {
  const named = NAMED_BY_BACKSLASH[character];
  const units = Array.from({ length: character.length }, (_, i) =>
    character.charCodeAt(i).toString(16).padStart(4, '0'),
  );
  const bytes = [...Buffer.from(character)];
  return BACKSLASHES.flatMap((slash) => {
    const unicode = units.map((unit) => `${slash}u${unit}`).join('');
    const hex = bytes.map((byte) => `${slash}x${twoDigits(byte)}`).join('');
    const octal = bytes.map((byte) => `${slash}${byte.toString(8).padStart(3, '0')}`).join('');
    return [
      unicode,
      unicode.replace(/u[0-9a-f]{4}/g, (code) => `u${code.slice(1).toUpperCase()}`),
      hex,
      hex.replace(/x[0-9a-f]{2}/g, (code) => `x${code.slice(1).toUpperCase()}`),
      octal,
      ...(named === undefined ? [`${slash}${character}`] : [`${slash}${named}`]),
      // A backslash in the value itself: each encoder doubles it.
      ...(character === '\\' ? [slash] : []),
    ];
  });
}

/** A quote inside quotes: doubled in CSV and SQL; closed, escaped and reopened in a shell; these in JSON. */
function quoteForms(character: string): string[] {
  if (character === '"') return ['""', '\\"\\"', '"\'"\'"'];
  if (character === "'") return ["''", "'\\''", "'\\\\''", `'"'"'`, `'\\"'\\"'`];
  return [];
}

function htmlForms(character: string): string[] {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16);
  const names = [
    ...(NAMED_IN_HTML[character] ?? []),
    ...[String(code), `0${code}`].map((digits) => `#${digits}`),
    ...[hex, hex.toUpperCase(), hex.padStart(2, '0'), hex.padStart(4, '0')].flatMap((digits) => [
      `#x${digits}`,
      `#X${digits}`,
    ]),
  ];
  return names.flatMap((name) => [`&${name};`, `&amp;${name};`]);
}

function urlForms(character: string): string[] {
  const forms = ['%', '%25', '%2525'].flatMap((prefix) => byteForms(character, prefix));
  return character === ' ' ? [...forms, '+'] : forms;
}

/** Its bytes in hexadecimal, in both cases. */
function byteForms(character: string, prefix: string): string[] {
  const bytes = [...Buffer.from(character)].map(twoDigits);
  return [bytes, bytes.map((byte) => byte.toUpperCase())].map((each) => each.map((byte) => prefix + byte).join(''));
}

function twoDigits(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
