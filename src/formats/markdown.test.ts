import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scan } from './markdown.ts';

function sectionsOf(...lines: string[]): string[] {
  return scan(lines.join('\n')).sections.map((section) => section.name);
}

test('F5 the lines with their ends, and the BOM, are the whole text', () => {
  const piece = fc.constantFrom(
    '\uFEFF',
    '\r\n',
    '\n',
    '\r',
    'a',
    ' ',
    '```',
    '<!--',
    '-->',
    '## A',
    '# - b',
    '\u2028',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('');
      const { lines } = scan(text);
      const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
      expect(bom + lines.map((line) => text.slice(line.start, line.next)).join('')).toBe(text);
      for (const line of lines) {
        expect(line.active).toHaveLength(line.text.length);
        expect(text.slice(line.start, line.end)).toBe(line.text);
      }
    }),
    { numRuns: 250 },
  );
});

test('F2 headings in code, in comments and inside of an entry are no headings', () => {
  expect(sectionsOf('## A', '```', '## B', '```', '<!-- x', '## C', '-->', '   ## D', '## E ##')).toEqual(['A', 'E']);
  expect(sectionsOf('## A', '1. x', '   ~~~~', '~~~', '## B', '   ~~~~', '## C')).toEqual(['A', 'C']);
  expect(sectionsOf('## A', 'text <!-- opened behind it', '## B', '--> ', '## C')).toEqual(['A', 'C']);
  expect(sectionsOf('## A', 'a `<!--` in code', '## B', 'and --> later')).toEqual(['A', 'B']);
  expect(sectionsOf('## A', 'a <!-- that nothing closes', '## B')).toEqual(['A', 'B']);
  expect(sectionsOf('## A', '- ```', '## B', '  ```', '## C')).toEqual(['A', 'C']);
});

test('F2 an entry switched off with # does not end its section, a heading does', () => {
  const lines = scan('## Configuration\n# a: 1\n- b: 2\n# - a: 1\n- c: 3\n# Title\n- c: 3\n').sections[0]!.lines;
  expect(lines.map((line) => line.active.trim())).toEqual(['', '- b: 2', '', '- c: 3']);
  const steps = scan('## Steps\n# 2. off\n#    ```sh\n#    echo\n3. on\n\n# echo\n4. out\n').sections[0]!.lines;
  expect(steps.map((line) => line.active.trim())).toEqual(['', '', '', '3. on', '']);
});

test('F4 code loses the indentation of its fence and ends its lines with \\n', () => {
  const text = '1. x\r\n   ```SH title\r\n   a\r\n     b\r\n c\r\n\r\n   ```\r\nend';
  const block = scan(text).lines[2]!.block!;
  expect(block).toMatchObject({ info: 'sh', code: 'a\n  b\nc\n\n', line: 3 });
  expect(text.slice(block.start, block.end)).toBe('   ```SH title\r\n   a\r\n     b\r\n c\r\n\r\n   ```');
});

test('F4 only a fence of the same kind and at least the same length closes', () => {
  const block = scan('````\n```\n~~~~\n        ````\n`````\nout').lines[1]!.block!;
  expect(block.code).toBe('```\n~~~~\n        ````\n');
  expect(scan('a\n```sh\nb\n').unclosed).toEqual({ what: 'block', line: 2 });
  expect(scan('a\n\n<!-- b\n').unclosed).toEqual({ what: 'comment', line: 3 });
});
