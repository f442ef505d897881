import type { Finding } from './finding.ts';

const ENCODED: readonly (readonly [RegExp, string])[] = [
  [/%[\da-f]{2}/i, 'percent-encoded characters'],
  [/\\/, 'a backslash'],
  [/(?<![\p{L}\p{N}])\p{L}(?:([ .\-_/*·,])\p{L}(?![\p{L}\p{N}])){2,}/u, 'a word in single letters'],
  [/(?:\b\d{2,8}[ ]+){3,}\d{2,8}\b|\b[01]{8}\b/, 'a row of numbers'],
  [/(?:\b(?:0x)?(?:\d[\da-f]|[a-f]\d)[ ,:-]+){3,}(?:0x)?[\da-f]{2}\b/i, 'a row of hexadecimal numbers'],
  [/(?:(?<!\S)[.\-–—·]{1,6}(?=\s|$)\s*){3,}/, 'a row of dots and dashes'],
  // As rot13 leaves them.
  [/(?<![\p{L}\p{N}_.-])(?!(?:x?html|https?|grpc)\b)[b-df-hj-np-tv-xz]{4,}(?![\p{L}\p{N}_])/u, 'a word without vowels'],
  [/\bxn--/i, 'a name in punycode'],
];

/** Text that a reader can't read, but a model can. */
export function findEncoded(text: string): Finding[] {
  const findings = ENCODED.filter(([pattern]) => pattern.test(text)).map(([, what]) => `holds ${what}`);
  for (const token of text.match(/[A-Za-z0-9+/=_]{6,}/g) ?? []) {
    if (isBlob(token)) findings.push(`holds a word that looks encoded: ${token}`);
  }
  return findings.map((reason) => ({ kind: 'encoded', reason }));
}

const LONGEST_WORD = 24;

function isBlob(token: string): boolean {
  if (/[A-Za-z0-9]=+$/.test(token)) return true;
  return token.split(/[/_+=]/).some((part) => {
    if (/^[\da-f]{12,}$/i.test(part) && /\d/.test(part)) return true;
    const switches = part.match(/\d(?=[a-z])|[a-z](?=\d)/gi)?.length ?? 0;
    if (switches >= 3) return true;
    // The parts of `verbatimModuleSyntax` and `toBeCloseTo` are words; those of base64 are shorter.
    const parts = part.split(/(?<=[a-z\d])(?=[A-Z])/);
    const shortest = /\d/.test(part) ? 3 : 2.5;
    return (
      parts.some((each) => each.length > LONGEST_WORD) || (parts.length > 2 && part.length / parts.length < shortest)
    );
  });
}

const LOOKALIKES: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
};

/** Other ways to read a text: digits as letters (`sk1p`), words without what divides them (`cu-rl`). */
export function readings(text: string): string[] {
  const spelled = text.replace(/(?<=\p{L})[013457@$]+(?=\p{L})|(?<!\S)[013457@$](?=\p{L}{2})/gu, (digits) =>
    [...digits].map((digit) => LOOKALIKES[digit]!).join(''),
  );
  const joined = text.replace(/(?<=\p{L})[-_.·'’*](?=\p{L})/gu, '');
  return [...new Set([text, spelled, joined])];
}
