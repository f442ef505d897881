import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastJsonObject } from './last-json.ts';

test.each([
  ['bare', '{"a":1}', { a: 1 }],
  [
    'fenced, with prose around',
    'Here {it} is:\n```json\n{"a": {"b": [1, {"c": "}{"}]}}\n```\nDone {ok}.',
    { a: { b: [1, { c: '}{' }] } },
  ],
  ['the last of several', '{"a":1}\nlog {x}\n{"a":2}\n', { a: 2 }],
  ['after a log line with an open brace', 'retry { in 3s\n{"half\n{"a" then {"a":1}', { a: 1 }],
  ['a lone brace after it', '{"a":1}\n{ \n', { a: 1 }],
  [
    'escapes and numbers',
    '{"a":"\\u00e9\\"\\n","n":-1.5e+3,"t":[true,false,null,[],{}]}',
    { a: 'é"\n', n: -1500, t: [true, false, null, [], {}] },
  ],
])('X4 finds the object: %s', (_, text, object) => {
  expect(lastJsonObject(text)).toEqual(object);
});

test.each([
  ['nothing', 'all went well'],
  ['an array, a string, a number', '[1] "x" 3'],
  ['an inner object of an unclosed one', '{"overall_status":"FAILED (step 1)","steps":[{"overall_status":"SUCCESS"}'],
  ['an unclosed one after a whole one', '{"overall_status":"SUCCESS"}\n{"overall_status":"FAILED (st'],
  ['an inner object of one that is no JSON', '{"a":{"overall_status":"SUCCESS"} oops'],
  ['an object in a string', '"{\\"overall_status\\":\\"SUCCESS\\"}"'],
  ['single quotes, trailing commas, bad escapes', '{\'a\':1} {"a":1,} {"a":"\\x"} {"a":01} {"a":tru} {"a" 1} {"a":[}'],
  ['deeper than anybody needs', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`],
])('R9 finds no report: %s', (_, text) => {
  expect(lastJsonObject(text)).toBeUndefined();
});

test('R9 in a text whose beginning is cut off, a part of what was cut is no report', () => {
  expect(lastJsonObject('"x"}, {"step":1}], "error": null}', { cut: true })).toBeUndefined();
  expect(lastJsonObject('"x"}]}\n{"a":1}\n', { cut: true })).toEqual({ a: 1 });
});

test('S13 a hostile megabyte ends: anything quadratic would run into the time limit of the test', () => {
  const times = (piece: string) => piece.repeat(Math.ceil(2 ** 20 / piece.length));
  for (const piece of [
    '{',
    '{"a":',
    '{"a":[',
    '{"a":{}',
    '{"a',
    '{"a\n',
    '{"\\u',
    '{"a":1',
    '{ ',
    '{"a":-',
    '{"a":{"b":1}x',
    '{}',
  ]) {
    for (const text of [times(piece), `${times(piece)}!`]) expect(() => lastJsonObject(text)).not.toThrow();
  }
});

test('X4 agrees with JSON.parse on any object, however it is laid out', () => {
  const objects = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }));
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2, '\t'), (object, indent) => {
      const text = JSON.stringify(object, null, indent);
      expect(lastJsonObject(`log: ${text} end`)).toEqual(JSON.parse(text));
      expect(lastJsonObject(text.slice(0, -1))).toBeUndefined();
    }),
    { numRuns: 1000 },
  );
});
