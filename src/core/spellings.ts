/**
 * How programs write a character of a value: as it is, or escaped for JSON, a shell, CSV, HTML or a URL, once or inside
 * one another. Letters and digits have one spelling.
 */
export function spellings(character: string): readonly string[] {
  let known = cache.get(character);
  if (!known) {
    known = /^[A-Za-z0-9]$/.test(character) ? [character] : [...new Set(spellAll(character))];
    cache.set(character, known);
  }
  return known;
}

const cache = new Map<string, readonly string[]>();

const NAMED_IN_HTML: Readonly<Record<string, readonly string[]>> = {
  '&': ['amp'],
  '<': ['lt'],
  '>': ['gt'],
  '"': ['quot'],
  "'": ['apos'],
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
      // A value that holds a backslash itself: each encoder doubles it.
      ...(character === '\\' ? [slash] : []),
    ];
  });
}

/** A quote inside of quotes: doubled in CSV and SQL; closed, escaped and opened again in a shell; those in JSON. */
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
  const encode = (prefix: string, upper: boolean): string =>
    [...Buffer.from(character)]
      .map((byte) => `${prefix}${upper ? twoDigits(byte).toUpperCase() : twoDigits(byte)}`)
      .join('');
  const forms = ['%', '%25'].flatMap((prefix) => [encode(prefix, true), encode(prefix, false)]);
  return character === ' ' ? [...forms, '+'] : forms;
}

function twoDigits(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
