// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the subject
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fillTemplate, parseTemplate, placeholdersIn, resolveText, type Scope, type Values } from './template.ts';

const scope: Scope = {
  columns: new Set(['slug', 'Page Title', 'größe', 'constructor']),
  env: new Set(['API_KEY']),
  file: 'create_page.md',
};
const shift = { FOLDER: '/s/pages', NAME: 'pages', TABLE: '/s/pages/table.csv' };

function fill(text: string, columns: Values['columns'] = { slug: 'a-b', 'Page Title': 'A B', größe: 'XL' }) {
  return fillTemplate(parseTemplate(text, scope, 1), { columns, shift });
}

function failure(text: string) {
  try {
    parseTemplate(text, scope, 10);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('placeholders in prose', () => {
  test('V1 columns and SHIFT keys are filled in, secrets stay names until they are needed', () => {
    const text = fill('{slug}/{Page Title}/{größe} {SHIFT:FOLDER} {SHIFT:NAME} {SHIFT:TABLE} {ENV:API_KEY}!');
    expect(text).toEqual(['a-b/A B/XL /s/pages pages /s/pages/table.csv ', { env: 'API_KEY' }, '!']);
    expect(resolveText(text, { API_KEY: '{slug}' })).toBe('a-b/A B/XL /s/pages pages /s/pages/table.csv {slug}!');
    expect(() => resolveText(text, {})).toThrow('API_KEY');
  });

  test('S1 a cell is never expanded, whatever it holds', () => {
    const part = fc.constantFrom(
      '{ENV:API_KEY}',
      '{SHIFT:TABLE}',
      '{slug}',
      '{{slug}}',
      '{',
      '}',
      '$',
      '$&',
      '$1',
      'x',
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const cell = parts.join('');
        expect(resolveText(fill('<{slug}{Page Title}>', { slug: cell, 'Page Title': cell }), {})).toBe(
          `<${cell}${cell}>`,
        );
      }),
    );
  });

  test('V2 one that names nothing is an error with its line and the nearest name', () => {
    const place = { code: 'bad-placeholder', file: 'create_page.md', line: 12 };
    const cases: [string, string, string][] = [
      ['{slgu}', '{slgu}', 'did you mean {slug}? for the text itself write {{slgu}}'],
      ['{whatever_else}', 'no such column', 'for the text itself write {{whatever_else}}'],
      ['{API_KEY}', 'no such column', 'did you mean {ENV:API_KEY}?'],
      ['{ENV:API_KYE}', '{ENV:API_KYE}', 'did you mean {ENV:API_KEY}?'],
      ['{ENV:TOTALLY_OTHER}', '.env', "add TOTALLY_OTHER= to the shift's .env"],
      ['{SHIFT:FODLER}', 'SHIFT', 'did you mean {SHIFT:FOLDER}?'],
      ['{SHIFT:what_is_this}', 'SHIFT', '{SHIFT:NAME}'],
    ];
    for (const [text, message, hint] of cases) {
      const error = failure(`{slug}\n\n- ${text}\n`);
      expect(error, text).toMatchObject(place);
      expect(error, text).toMatchObject({
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      });
    }
  });

  test('V2 an empty cell, and an output that is not written yet, are empty strings', () => {
    expect(fill('[{slug}|{Page Title}|{constructor}]', { slug: '' })).toEqual(['[||]']);
  });

  test('V3 every other brace keeps its bytes', () => {
    // biome-ignore format: a list to read at a glance
    const kept = [
      '{}', '{ slug }', '{{ slug }}', '${slug}', '${{slug}}', '${{ secrets.X }}', '{"a": {"b": 1}}', '{a,b}', '{1..5}',
      '{Page  Title}', '{page title}', '{env:API_KEY}', '{a\nb}', '{', '}}', '{{}}', '{x.y}', 'a{b', '\\${slug}', '$${slug}',
    ];
    for (const text of kept) expect(fill(text), text).toEqual([text]);
  });

  test('V3 doubled braces are the literal', () => {
    const literals: [string, string][] = [
      ['{{slug}}', '{slug}'],
      ['{{unknown}}', '{unknown}'],
      ['{{ENV:NOPE}}', '{ENV:NOPE}'],
      ['{{Page Title}}', '{Page Title}'],
      ['{{{foo}}}', '{{foo}}'],
      ['{"a":{slug}}', '{"a":a-b}'],
      ['{{slug}', '{a-b'],
    ];
    for (const [text, literal] of literals) expect(fill(text), text).toEqual([literal]);
  });

  test('L3 the placeholders of a text are listed as they are written', () => {
    const text = '{slug} {{slug}} ${slug} {Page Title} {ENV:X} {slug} { "a": 1 } {unknown}';
    expect(placeholdersIn(text, scope.columns)).toEqual(['{slug}', '{Page Title}', '{ENV:X}', '{unknown}']);
  });
});
