import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMask } from './mask.ts';

// Its base64 has both characters in which base64url differs.
const TOKEN = 'sk-läng/+ "q"*~?>>42!';
const mask = createMask({ TOKEN, SHORT: 'true', PLAIN: 'hunter2222' });

describe('S4 a mask', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  it.each([
    ['raw', TOKEN],
    ['base64', base64(TOKEN)],
    ['base64url', Buffer.from(TOKEN).toString('base64url')],
    ['URL-encoded', encodeURIComponent(TOKEN)],
    ['URL-encoded in lower case', encodeURIComponent(TOKEN).replace(/%../g, (code) => code.toLowerCase())],
    ['form-encoded', new URLSearchParams({ t: TOKEN }).toString().slice(2)],
    ['JSON-escaped', JSON.stringify(TOKEN).slice(1, -1)],
    ['JSON-escaped to ASCII', String.raw`sk-l\u00e4ng/+ \"q\"*~?>>42!`],
  ])('replaces a value that is %s by its name', (_form, printed) => {
    expect(mask.text(`before ${printed} after`)).toBe('before [TOKEN] after');
  });

  it.each([`user:${TOKEN}`, `x${TOKEN}`, `${TOKEN}\n`])(
    'leaves too little of the base64 of %j to be of use',
    (text) => {
      const shown = mask.text(base64(text));
      expect(shown).toContain('[TOKEN]');
      expect(shown.replace('[TOKEN]', '').length).toBeLessThan(16);
    },
  );

  it('finds base64 that was broken into lines, and single lines of a key', () => {
    const key = `-----BEGIN KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0'.repeat(9)}\n${'Zm9vYmFyCg'.repeat(6)}\n-----END KEY-----\n`;
    const { text } = createMask({ KEY: key });
    expect(text(base64(key).replace(/.{76}/g, '$&\n'))).toBe('[KEY]');
    expect(text(`> ${'Zm9vYmFyCg'.repeat(6)}\n`)).toBe('> [KEY]\n');
  });

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
