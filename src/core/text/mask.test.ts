import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMask } from './mask.ts';

// Its base64 has both characters in which base64url differs.
const TOKEN = 'sk-läng/+ "q"*~?>>42!';
const mask = createMask({ TOKEN, SHORT: 'true', PLAIN: 'hunter2222' });

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const wrap = (text: string, width: number): string => text.replace(new RegExp(`(.{${width}})(?=.)`, 'gsu'), '$1\n');
const numeric = (text: string): string => text.replace(/[^\w ]/gu, (each) => `&#${each.codePointAt(0)};`);
const percent = (text: string): string => text.replace(/[^\w.~-]/gu, (each) => hex(each).replace(/../g, '%$&'));

const quotedPrintable = (text: string): string =>
  text.replace(/[^!-<>-~]/gu, (each) => hex(each).toUpperCase().replace(/../g, '=$&'));

/** The ways in which programs print a value. */
const ENCODINGS: Readonly<Record<string, (value: string) => string>> = {
  raw: (value) => value,
  'folded raw': (value) => wrap(value, 13),
  JSON: json,
  'JSON in JSON': (value) => json(json(value)),
  'JSON in JSON in JSON': (value) => json(json(json(value))),
  'JSON in ASCII': (value) =>
    json(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'JSON with escaped slashes': (value) => json(value).replaceAll('/', '\\/'),
  HTML: (value) =>
    value.replace(
      /[&<>"']/g,
      (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[each]!,
    ),
  'numeric HTML': numeric,
  'HTML in HTML': (value) => numeric(value).replaceAll('&', '&amp;'),
  'shell in single quotes': (value) => value.replaceAll("'", "'\\''"),
  'shell in other quotes': (value) => value.replaceAll("'", `'"'"'`),
  'shell with backslashes': (value) => value.replace(/[^\w\n]/gu, '\\$&'),
  CSV: (value) => value.replaceAll('"', '""'),
  URL: encodeURIComponent,
  'URL in lower case': percent,
  'URL in URL': (value) => encodeURIComponent(encodeURIComponent(value)),
  form: (value) => new URLSearchParams({ t: value }).toString().slice(2),
  base64,
  base64url: (value) => Buffer.from(value).toString('base64url'),
  'base64 in a URL': (value) => encodeURIComponent(base64(value)),
  'base64 in lines': (value) => wrap(base64(value), 76),
  'base64 in short lines': (value) => wrap(base64(value), 19),
  'base64 in indented lines': (value) => wrap(base64(value), 64).replaceAll('\n', '\r\n    '),
  'base64 in lines in JSON': (value) => json(wrap(base64(value), 76)),
  'base64 in JSON with escaped slashes': (value) => base64(value).replaceAll('/', '\\/'),
  'base64 of base64': (value) => base64(base64(value)),
  'everything percent-encoded': (value) => hex(value).replace(/../g, '%$&'),
  'everything as \\u': (value) =>
    value.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'everything in numeric HTML': (value) => value.replace(/./gsu, (each) => `&#${each.codePointAt(0)};`),
  'everything in hexadecimal HTML': (value) =>
    value.replace(/./gsu, (each) => `&#x${each.codePointAt(0)!.toString(16)};`),
  'quoted-printable': quotedPrintable,
  'quoted-printable in lines': (value) => (value.match(/.{1,13}/gsu) ?? []).map(quotedPrintable).join('=\r\n'),
  'folded by backslashes': (value) => wrap(value, 13).replaceAll('\n', '\\\n  '),
  hex,
  'hex in upper case': (value) => hex(value).toUpperCase(),
  'hex in lines': (value) => wrap(hex(value), 60),
  'hex with spaces': (value) => hex(value).replace(/..(?=.)/g, '$& '),
  'hex with colons': (value) => hex(value).replace(/..(?=.)/g, '$&:'),
  'hex with 0x': (value) => hex(value).replace(/..(?=.)/g, '$&, 0x'),
};

/** What somebody could read of a text who tries all of the decoders. */
function readings(text: string): string[] {
  const joined = text.replace(/\\r|\\n|[\r\n\t ]|%0A/gi, '');
  const runs = joined.match(/[\w+/-]{8,}/g) ?? [];
  const decoded = runs.flatMap((run) =>
    [0, 1, 2, 3].map((skip) => Buffer.from(run.slice(skip), 'base64').toString('latin1')),
  );
  const bytes = (joined.replace(/[ :,]|0x/g, '').match(/[0-9a-f]{16,}/gi) ?? []).map((run) =>
    Buffer.from(run, 'hex').toString('latin1'),
  );
  return [text, joined, ...decoded, ...bytes];
}

/** The longest run of a value's characters that can be read, if it has 8 or more. */
function leakOf(value: string, text: string): string | undefined {
  const all = readings(text);
  for (let at = 0; at + 8 <= value.length; at++) {
    const run = value.slice(at, at + 8);
    if (all.some((each) => each.includes(run) || each.includes(Buffer.from(run).toString('latin1')))) return run;
  }
  return undefined;
}

describe('S4 a mask', () => {
  it.each(Object.entries(ENCODINGS))('replaces a value that is written as %s by its name', (_name, encode) => {
    expect(mask.text(`before ${encode(TOKEN)} after`)).toBe('before [TOKEN] after');
  });

  it('lets no 8 characters of a random value through, however it is encoded, and whatever stands around it', () => {
    const value = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abcXYZ0189+/_-='), minLength: 8, maxLength: 90 }),
      fc.string({ unit: fc.constantFrom(...'aZ9$"\'\\/%&<>+ #;{}ä€😀'), minLength: 8, maxLength: 40 }),
    );
    const around = fc.string({ unit: fc.constantFrom(...'user:Bearer \n{}"=.0'), maxLength: 20 });
    fc.assert(
      fc.property(
        value.filter((each) => each.trim().length >= 8),
        around,
        around,
        fc.constantFrom(...Object.keys(ENCODINGS)),
        (secret, before, after, name) => {
          const { text, stream } = createMask({ KEY: secret });
          // Encoded together: base64 then shares characters with what stands around.
          for (const printed of [
            ENCODINGS[name]!(before + secret + after),
            before + ENCODINGS[name]!(secret) + after,
          ]) {
            const shown = text(printed);
            expect(leakOf(secret.trim(), shown), `${name}: ${JSON.stringify(printed)} -> ${shown}`).toBeUndefined();
            const pieces = stream();
            const cut = (printed.match(/.{1,7}/gs) ?? []).map((piece) => pieces.push(piece)).join('');
            expect(cut + pieces.end()).toBe(shown);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('finds a value that is folded where it looks like an indent', () => {
    const { text } = createMask({ KEY: 'abcdefghijkl>> |mno' });
    expect(text('abcdefghijkl\\\n  >> |mno')).toBe('[KEY]');
    expect(text('abcdefghijkl\n> >> |mno')).toBe('[KEY]');
  });

  it('finds base64 that was broken into lines, and single lines of a key', () => {
    const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0'.repeat(9)}\n${'Zm9vYmFyCg'.repeat(6)}\n-----END KEY-----\n`;
    const { text } = createMask({ KEY: key });
    expect(text(wrap(base64(key), 76))).toBe('[KEY]');
    expect(text(`> ${'Zm9vYmFyCg'.repeat(6)}\n`)).toBe('> [KEY]\n');
  });

  it('finds a part of a value that looks random, and leaves words alone', () => {
    const { text, stream } = createMask({
      KEY: 'sk-live-51H8xQ2eZvKYlo2C',
      URL: 'https://production.example.com/v1/customers',
    });
    expect(text('key sk-live-51H8xQ... is wrong')).toBe('key s[KEY]... is wrong');
    expect(text('|k-live-51H8xQ2eZ|\n|vKYlo2C         |')).toBe('|[KEY]|\n|vKYlo2C         |');
    expect(text('https://production.example.com/v1/orders')).toBe('https://production.example.com/v1/orders');
    const pieces = stream();
    expect(pieces.push('8xQ2eZ') + pieces.push('vKY') + pieces.push('. 51H8') + pieces.end()).toBe('[KEY]. 51H8');
  });

  it('finds words that were folded between them, and a part of a key with the signs of base64', () => {
    const { text } = createMask({ WORDS: 'correct horse battery', AWS: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzMPLzKEY2' });
    expect(text('a: >\n  correct\n  horse battery')).toBe('a: >\n  [WORDS]');
    expect(text('key wJalrXUtnFEMI/K7MD...')).toBe('key [AWS]...');
    expect(text('correct horses, src/core/mask.ts')).toBe('correct horses, src/core/mask.ts');
  });

  it('takes no longer for a value whose letters repeat', () => {
    const { text } = createMask({ SAME: `${'a'.repeat(20_000)}b`, PERIODIC: 'ab1'.repeat(2000) });
    const long = 'a'.repeat(100_000);
    expect(text(long)).toBe(long);
    expect(text(`${long}b`)).toBe(`${'a'.repeat(80_000)}[SAME]`);
    expect(text('ab1'.repeat(4000))).toBe('[PERIODIC][PERIODIC]');
  }, 15_000);

  it('masks the longer of two values that begin alike, and leaves short ones alone', () => {
    const { text } = createMask({ A: 'abcdef', B: 'abcdefgh', C: '1' });
    expect(text('abcdefgh abcdefg 1')).toBe('[B] [A]g 1');
  });

  it('masks values and keys of plain JSON, and nothing else', () => {
    const json = { n: 1, ok: true, none: null, list: ['x hunter2222'], hunter2222: { deep: 'hunter2222' } };
    expect(mask.deep(json)).toEqual({
      n: 1,
      ok: true,
      none: null,
      list: ['x [PLAIN]'],
      '[PLAIN]': { deep: '[PLAIN]' },
    });
  });

  it('masks the same however a text is cut into chunks', () => {
    // A small alphabet makes values that overlap, begin alike and stand inside each other.
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 6, maxLength: 9 });
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    fc.assert(
      fc.property(
        fc.array(letters, { minLength: 1, maxLength: 3 }),
        fc.array(piece, { maxLength: 12 }),
        (values, pieces) => {
          const { text, stream } = createMask(Object.fromEntries(values.map((value, i) => [`S${i}`, value])));
          const whole = pieces.join(values[0]);
          const cut = stream();
          const shown = [...whole].map((unit) => cut.push(unit)).join('') + cut.end();
          expect(shown).toBe(text(whole));
          const coarse = stream();
          expect(pieces.map((each, i) => coarse.push(i ? values[0] + each : each)).join('') + coarse.end()).toBe(
            text(whole),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('holds back no more of a stream than could be the beginning of a value', () => {
    const stream = mask.stream();
    expect(stream.push('line one\nhunt')).toBe('line one\n');
    expect(stream.push('ing\n')).toBe('hunting\n');
    expect(stream.push('hunter22')).toBe('');
    expect(stream.push('22.')).toBe('[PLAIN].');
    expect(stream.push('hunter2222')).toBe('[PLAIN]');
    expect(stream.push('hunter')).toBe('');
    expect(stream.end()).toBe('hunter');
  });
});
