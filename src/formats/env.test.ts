import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { parseEnv } from './env.ts';

function failure(text: string): NightshiftError {
  try {
    parseEnv(text, '.env');
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

test('F7 reads dotenv: comments, export, quotes, values of several lines', () => {
  const text = [
    '\uFEFFFIRST=0',
    '',
    '# comment',
    'A=1',
    'export B = two words # comment',
    "C='single # kept'",
    'D="first',
    '  # no comment',
    'not = an entry',
    'last" # comment',
    'E=',
    'F=a=b',
    'G={"json": true}',
    "H=it's",
    'A=again',
    'KEY="-----BEGIN\n=MII+/==\n-----END"',
  ];
  const expected = {
    FIRST: '0',
    A: 'again',
    B: 'two words',
    C: 'single # kept',
    D: 'first\n  # no comment\nnot = an entry\nlast',
    E: '',
    F: 'a=b',
    G: '{"json": true}',
    H: "it's",
    KEY: '-----BEGIN\n=MII+/==\n-----END',
  };
  expect(Object.fromEntries(parseEnv(text.join('\n'), '.env'))).toEqual(expected);
  expect(Object.fromEntries(parseEnv(text.join('\n').replaceAll('\n', '\r\n'), '.env'))).toEqual(expected);
});

test.each([
  ['A=1\nhunter2', 2],
  ['A="x\ny"\n\nhunter2', 4],
  ['A=1\n=hunter2', 2],
  ['MIIhunter2/+==', 1],
  ['1A=hunter2', 1],
  ['A: hunter2', 1],
  ['A-B=hunter2', 1],
  ['NIGHTSHIFT_TOKEN=hunter2', 1],
  ['export NIGHTSHIFT_=hunter2', 1],
  ['A=1\nB=hunter2\0', 2],
  ['A="hun"ter2"', 1],
  ['A="hunter2\nB=2\nC="x"', 3],
])('F7 %j: an error with the line, without the secret', (text, line) => {
  const error = failure(text);
  expect(error).toMatchObject({ code: 'bad-env', line, file: '.env' });
  expect(`${error.message} ${error.hint}`).not.toMatch(/hun|ter2|MII/);
});

test('F7 whatever the text, nothing but a NightshiftError is thrown', () => {
  const token = fc.constantFrom(
    'A',
    '=',
    '"',
    "'",
    '`',
    '\n',
    '\r\n',
    ' ',
    '#',
    'export ',
    '__proto__',
    '\\n',
    '\0',
    '\u2028',
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
      try {
        for (const name of parseEnv(tokens.join(''), '.env').keys()) expect(name).toMatch(/^[A-Za-z_]\w*$/);
      } catch (error) {
        expect(error).toBeInstanceOf(NightshiftError);
      }
    }),
    { numRuns: 250 },
  );
});
