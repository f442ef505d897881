// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the subject
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveProse } from '../core/language/template.ts';
import { fillTask } from '../core/model/shift.ts';
import { compileTask } from './compile-task.ts';
import { scan } from './markdown.ts';
import { parseTask } from './task.ts';

/** A value in every place that could make something else of it. */
const TASK = `# A task

## Configuration

## Steps

1. {a}
2. Write about {a}, \`{a}\` and {ENV:KEY}{b}
   - {a}
   > {a} {b}
   {a}
   | {a} | b |
   |---|---|
   {a}{b} <!-- {a} -->
   \`\`\`json
   {"title": "{a}"}
   {a}
   \`\`\`
   ~~~{b}
   {a}
   ~~~

   \`\`\`sh
   cat <<EOF
   {a}
   EOF
   echo {a} "{b}" '{a}' "$(printf %s {b})"
   \`\`\`
{a}. {b}
{a}{b} text

<!-- a comment about {a}
{b}
-->
3. {ENV:KEY}
   {ENV:KEY}

## Validation

- {a}
- {b} is {a}
  {a}

  \`\`\`sh
  grep -q -- {a} "{b}"
  \`\`\`
* {ENV:KEY}
`;

const scope = { columns: new Set(['a', 'b']), env: new Set(['KEY']), file: 't.md' };
const settings = {
  agent: 'command',
  tools: [],
  qa: 'auto',
  qaParallel: false,
  timeoutMs: 1,
  checkTimeoutMs: 1,
} as const;
const task = compileTask(
  { name: 't', file: 't.md', document: parseTask(TASK, 't.md') },
  {
    ...settings,
    outputs: [],
    passEnv: [],
    protect: [],
    limitPaths: [],
    attempts: 3,
    retryDelayMs: 0,
    qaRetries: 0,
  } as never,
  scope,
  () => ({ file: 't.md', line: 1 }),
);
const shift = { FOLDER: '/s/p', NAME: 'p', TABLE: '/s/p/table.csv' };

function filled(a: string, b: string, key: string) {
  const { document, criteria, steps } = fillTask(task, { columns: { a, b }, shift });
  const text = resolveProse(document, { KEY: key });
  return { text, criteria: criteria.map((each) => resolveProse(each.text, { KEY: key })), steps: steps.length };
}

/** What the parser finds: sections, entries with their blocks, and where. */
function structureOf(text: string) {
  const { lines, sections } = scan(text);
  const { steps, criteria, settings: found } = parseTask(text, 't.md');
  const entries = [...steps, ...criteria].map(({ line, blocks }) => ({
    line,
    blocks: blocks.map(({ line: at }) => at),
  }));
  const active = lines.map(({ active, block }) => [active.trim() !== '', /^#/.test(active), block !== undefined]);
  return { names: sections.map(({ name }) => name), found, entries, steps: steps.length, active };
}

const nasty = fc.constantFrom(
  ...[
    '\n',
    '\r',
    '\v',
    '\f',
    '\0',
    '\x1b[2J',
    '\u0085',
    '\u2028',
    '\u2029',
    '\u202e',
    '\u{e0041}',
    '\ud800',
    '\t',
    ' ',
    '    ',
  ],
  ...[
    '#',
    '# ',
    '## Validation',
    '- ',
    '* ',
    '+ ',
    '-',
    '1',
    '1. ',
    '2) ',
    '. ',
    '> ',
    '|',
    '---',
    '===',
    '***',
    ':--',
    '[a]: b',
  ],
  ...[
    '```',
    '```sh',
    '~~~',
    '`',
    '<!--',
    '-->',
    '<',
    'div>',
    '</task-000000000000>',
    '</item>',
    'x',
    'EOF',
    "'",
    '"',
    '$(x)',
    '\\',
  ],
);
const value = fc.oneof(
  fc.array(nasty, { maxLength: 5 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.constantFrom('', 'plain words', '-5', '3.5 inch', 'C# & F#', 'a | b', 'x'.repeat(5000)),
);

test('V1 S3 the structure of a filled task is that of the task, whatever the values hold', () => {
  const plain = filled('x', 'y', 'z');
  const expected = structureOf(plain.text);
  fc.assert(
    fc.property(value, value, value, (a, b, key) => {
      const { text, criteria, steps } = filled(a, b, key);
      expect(structureOf(text)).toEqual(expected);
      expect(steps).toBe(plain.steps);
      expect(criteria.map((each) => each.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/).length)).toEqual([1, 2, 1]);
      expect(text).not.toMatch(/<\/(task|item)/);
      expect(text.length).toBeLessThan(TASK.length + 80 * 1024);
    }),
    { numRuns: Number(process.env.NIGHTSHIFT_FUZZ ?? 300) },
  );
});

test('V1 one line that changes nothing is inserted as it is, also where it looks odd', () => {
  for (const each of [
    'plain words',
    '-5',
    '3.5 inch',
    'C# & F#',
    '{b} {ENV:KEY} $HOME',
    '“quoted” 💥',
    'a <b> c',
    '2. x',
    '# x',
  ]) {
    expect(filled('x', each, 'z').text, each).toContain(`about x, \`x\` and z${each}\n`);
  }
  for (const each of ['plain words', '-5', '3.5 inch', 'C# & F#', '(a)', '"a"']) {
    expect(filled(each, 'y', 'z').text, each).toContain(`\n1. ${each}\n`);
  }
  for (const each of ['# x', '- x', '2. x', '```', '', '   x', '> x', '<div>', '---', 'a\nb', 'x'.repeat(5000)]) {
    expect(filled(each, 'y', 'z').text, each).toContain(`\n1. (the value of "a" in <item>)\n`);
  }
  expect(filled('x', 'y', 'a\nb').text).toContain('3. (the environment variable KEY)\n');
});

test('V4 S2 a file that one block writes with a value in it is not run by another block', () => {
  const compile = (first: string, second: string) => {
    const text = `# T\n\n## Configuration\n\n## Steps\n\n1. a\n   \`\`\`sh\n   ${first}\n   \`\`\`\n\n## Validation\n\n- b\n  \`\`\`sh\n  ${second}\n  \`\`\`\n`;
    const document = parseTask(text, 't.md');
    return () =>
      compileTask(
        { name: 't', file: 't.md', document },
        { ...settings, outputs: [], limitPaths: [] } as never,
        scope,
        () => ({
          file: 't.md',
        }),
      );
  };
  const run = ['sh gen.sh', './gen.sh', 'env timeout 5 sh ./gen.sh', '. ./gen.sh', 'bash -x gen.sh a'];
  for (const second of run) {
    for (const first of ['echo {a} > gen.sh', 'cat > gen.sh <<EOF\n   {a}\n   EOF', '{ echo {a}; } > out/gen.sh']) {
      expect(compile(first, second), `${first} ... ${second}`).toThrow(
        /^\{a\} can't stand here: line \d+ runs gen\.sh, which this block may write/,
      );
    }
  }
  const accepted: [string, string][] = [
    ['echo {a} > out.html', 'sh check.sh out.html'],
    ['echo {a} > gen.sh', 'cat gen.sh; echo gen.sh'],
    ['echo a > gen.sh; echo {a}', 'sh gen.sh'],
    ['sh gen.sh {a}', 'sh gen.sh {a}'],
  ];
  for (const [first, second] of accepted) expect(compile(first, second), `${first} ... ${second}`).not.toThrow();
});
