import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FindTraits } from '../core/model/agent-traits.ts';
import { NightshiftError } from '../core/model/errors.ts';
import {
  createTask,
  findUnwritten,
  parseTask,
  refuseOtherShells,
  replaceSteps,
  stepTexts,
  taskWarnings,
} from './task.ts';

const TASK = `# create_page

## Configuration

- tools: playwright, google_workspace
- modle: x

## Background

1. not a step

## Steps

Before all.

1. Open \`{url}\`
   and log in:
   - as \`{user}\`
   1. nested

Like this:

\`\`\`sh
echo one
\`\`\`
<!-- 2. Not this -->
# 2. nor this
2) Save it.

   ~~~python
     print()
   ~~~

   Then close.

After all.

## Validation

- It exists.
  \`\`\`sh
  test -f out
  \`\`\`
- ~~~sh
  test -s out
  ~~~
* It is nice,
  - nested
  and short.
`;

function failure(text: string): NightshiftError {
  try {
    parseTask(text, 'a.md');
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('reading', () => {
  test('F4 steps and criteria have their nested lines and fenced blocks, indented or not', () => {
    const document = parseTask(TASK, 'a.md');
    const sources = [...document.steps, ...document.criteria].map(({ start, end }) => TASK.slice(start, end));
    expect(sources).toEqual([
      '1. Open `{url}`\n   and log in:\n   - as `{user}`\n   1. nested\n\nLike this:\n\n```sh\necho one\n```',
      '2) Save it.\n\n   ~~~python\n     print()\n   ~~~\n\n   Then close.',
      '- It exists.\n  ```sh\n  test -f out\n  ```',
      '- ~~~sh\n  test -s out\n  ~~~',
      '* It is nice,\n  - nested\n  and short.',
    ]);
    const blocks = [...document.steps, ...document.criteria].map((entry) => entry.blocks);
    expect(blocks.flat().map(({ info, code, line }) => [info, code, line])).toEqual([
      ['sh', 'echo one\n', 24],
      ['python', '  print()\n', 31],
      ['sh', 'test -f out\n', 42],
      ['sh', 'test -s out\n', 45],
    ]);
    expect(document.steps.map(({ number, line }) => [number, line])).toEqual([
      [1, 16],
      [2, 28],
    ]);
    const { configuration, validation } = document.sections;
    expect(TASK.slice(configuration.start, configuration.end)).toBe(
      '\n- tools: playwright, google_workspace\n- modle: x\n\n',
    );
    expect(validation.end).toBe(TASK.length);
  });

  test('F4 bullets below a step are part of it, a rule and a paragraph behind the list are not', () => {
    const text = '## Configuration\n## Steps\n1. a\n\n- b\n\n2. c\n\nd\n## Validation\n- e\n\n- - -\n\n* * *\n';
    const { steps, criteria } = parseTask(text, 'a.md');
    const sources = [...steps, ...criteria].map(({ start, end }) => text.slice(start, end));
    expect(sources).toEqual(['1. a\n\n- b', '2. c', '- e']);
  });

  test('F4 an unknown key is a warning, none at all is fine', () => {
    const document = parseTask(TASK, 'a.md');
    expect(document.settings[0]).toEqual({ key: 'tools', value: 'playwright, google_workspace', line: 5 });
    expect(taskWarnings(document, 'a.md')).toEqual(['unknown key `modle` (a.md line 6); did you mean `model`?']);
    expect(parseTask('## Configuration\n## Steps\n1. a\n## Validation\n- b', 'a.md').settings).toEqual([]);
  });

  test('F4 the template is valid and has one step and one criterion', () => {
    const document = parseTask(createTask('create_page'), 'a.md');
    expect([document.settings.length, document.steps.length, document.criteria.length]).toEqual([0, 1, 1]);
    expect(createTask('create_page')).not.toMatch(/[{}]/);
  });

  test('F4 what nobody has written yet is found, and only that', () => {
    const template = createTask('create_page');
    const inSteps = template.replace('1. Replace this: what', '1. Write\n7) Replace this: what');
    const written = template.replace('1. Replace this: what', '1. Write, then replace this: Replace this: what');
    const find = (text: string) => findUnwritten(parseTask(text, 'a.md'));
    expect(find(template)).toEqual({ what: 'step 1', line: 16 });
    expect(find(inSteps)).toEqual({ what: 'step 2', line: 17 });
    expect(find(written)).toEqual({ what: 'criterion 1', line: 28 });
    expect(find(written.replace('- Replace this: what', '* What'))).toBeUndefined();
    expect(find(TASK)).toBeUndefined();
  });

  test('F4 a block of a shell that does not run is an error, below a step only where scripts run', () => {
    const block = (info: string) => `\n  ~~~${info}\n  true\n  ~~~`;
    const steps = `1. One${block('sh')}${block('Bash')}${block('Zsh -e')}\n2. Two${block('python')}${block('')}`;
    const text = `## Configuration\n## Steps\n${steps}\n## Validation\n- ok${block('sh')}\n- fine${block('shell')}\n`;
    const refusal = (source: string, ...more: [string?, FindTraits?]) => {
      try {
        refuseOtherShells(parseTask(source, 'a.md'), 'a.md', ...more);
      } catch (error) {
        const { message, line } = error as NightshiftError;
        return `${message} (${line})`;
      }
      return undefined;
    };
    const [step, criterion] = [
      'the ```zsh block of step 1 would not run (10)',
      'the ```shell block of criterion 2 would not run (26)',
    ];
    expect(refusal(text)).toBe(criterion);
    expect(refusal(text, 'shell')).toBe(step);
    expect(refusal(text.replace('## Steps', '- agent: shell\n## Steps'))).toBe(step.replace('10', '11'));
    expect(refusal(text, 'mine', () => ({ hasModel: false, runsSteps: true, judges: false }))).toBe(step);
    expect(refusal(text.replace('shell', 'text'))).toBeUndefined();
  });

  test('F4 Configuration may be left out; a misspelt one, or settings that stand without it, are errors', () => {
    const rest = '## Steps\n\n1. Do it\n\n## Validation\n\n- Done\n';
    const document = parseTask(`# Page\n\nSome words.\n\n${rest}`, 'a.md');
    expect([document.settings, document.steps.length, document.criteria.length]).toEqual([[], 1, 1]);
    expect(replaceSteps(`# Page\n\n${rest}`, ['Do it well'])).toBe(`# Page\n\n${rest.replace('it', 'it well')}`);
    expect(() => parseTask(`## Configuraton\n${rest}`, 'a.md')).toThrow('no section `## Configuration`');
    expect(() => parseTask(`# Configuration\n- agent: shell\n${rest}`, 'a.md')).toThrow(
      '`agent` is set outside of `## Configuration`',
    );
    expect(() => parseTask(`${rest}\n## Settings\n- timeout: 5m\n`, 'a.md')).toThrow('`timeout` is set outside');
    expect(parseTask(`${rest}\n## Notes\n- colour: red\n`, 'a.md').settings).toEqual([]);
  });

  test.each([
    ['## Configuration\n## Step\n1. a\n## Validation\n- b\n', /no section `## Steps`/, 2],
    ['## Configuration\n## Steps\n1. a\n', /no section `## Validation`/, 3],
    ['## Configuration\n## Validation\n- b\n## Steps\n1. a\n', /`## Validation` comes before `## Steps`/, 2],
    ['## Configuration\n## Steps\n1. a\n## Steps\n1. a\n## Validation\n- b\n', /`## Steps` appears twice/, 4],
    ['## Configuration\n## Steps\n- a\n## Validation\n- b\n', /`## Steps` is empty/, 2],
    ['## Configuration\n## Steps\n<!-- 1. a -->\n## Validation\n- b\n', /`## Steps` is empty/, 2],
    ['## Configuration\n## Steps\n1. a\n## Validation\n1. b\n', /`## Validation` is empty/, 4],
    ['## Configuration\n## Steps\n1. a\n2. <!-- b -->\n## Validation\n- b\n', /step 2 is empty/, 4],
    ['## Configuration\n## Steps\n```sh\na\n```\n1. a\n## Validation\n- b\n', /does not belong to a step/, 3],
    ['## Configuration\n## Steps\n1. a\n## Validation\n```sh\n```\n', /does not belong to a criterion/, 5],
    ['## Configuration\n## Steps\n1. a\n```sh\nb\n## Validation\n- b\n', /block is never closed/, 4],
    ['## Configuration\n- qa: a\n- qa: b\n## Steps\n1. a\n## Validation\n- b\n', /`qa` is set twice/, 3],
  ])('F4 %j: an error that names it, with line and what to do', (text, message, line) => {
    const error = failure(text);
    expect(error).toMatchObject({ code: 'bad-task', file: 'a.md', line, message: expect.stringMatching(message) });
    expect(error.hint).toBeTruthy();
  });
});

describe('editing', () => {
  test('L3 only the list changes; a step that stays keeps its bytes, comments between steps stay', () => {
    const [first, second] = stepTexts(parseTask(TASK, 'a.md'));
    expect(second).toBe('Save it.\n\n~~~python\n  print()\n~~~\n\nThen close.');
    const changed = replaceSteps(TASK, [first!, 'New\nstep:\n```sh\na\n\n  b\n```', second!]);
    expect(changed).toBe(TASK.replace('2) Save it', '2. New\n   step:\n   ```sh\n   a\n\n     b\n   ```\n3) Save it'));
    const gone = replaceSteps(TASK, ['Only this.']);
    expect(gone).toContain(
      'Before all.\n\n1. Only this.\n<!-- 2. Not this -->\n# 2. nor this\n\nAfter all.\n\n## Validation',
    );
  });

  test('L3 steps that would not be read back as they are, are refused', () => {
    for (const steps of [[], [' '], ['a\n```sh\nb'], ['a\n<!-- b'], ['a', '<!-- b -->']]) {
      expect(() => replaceSteps(TASK, steps)).toThrow(NightshiftError);
    }
    const texts = ['1. a\n2. b', 'x\n## Validation\n- none', '# y\n\nz'];
    const changed = replaceSteps(TASK, texts);
    expect(stepTexts(parseTask(changed, 'a.md'))).toEqual(texts);
    expect(parseTask(changed, 'a.md').criteria).toHaveLength(3);
  });

  test('L3 a comment that an old step leaves open does not hide a new one', () => {
    const text = '## Configuration\n## Steps\n1. a <!-- b\n2. c\n## Validation\n- d\n';
    expect(replaceSteps(text, ['a <!-- b', 'e', 'c'])).toBe(text.replace('2. c', '2. e\n3. c'));
    expect(() => replaceSteps(text, ['a <!-- b', 'e --> f', 'c'])).toThrow(NightshiftError);
  });

  test('L3 a step whose number grows by a digit keeps its text', () => {
    const steps = Array.from({ length: 9 }, (_, i) => `${i + 1}. Step\n    further in`).join('\n');
    const text = `## Configuration\n## Steps\n${steps}\n## Validation\n- d\n`;
    const texts = stepTexts(parseTask(text, 'a.md'));
    expect(texts[8]).toBe('Step\n further in');
    expect(stepTexts(parseTask(replaceSteps(text, ['New', ...texts]), 'a.md'))).toEqual(['New', ...texts]);
  });
});

const eols = fc.constantFrom('\n', '\r\n');
const noise = fc.constantFrom(
  ...['', '', 'Text.', '<!-- 3. x -->', '<!-- a\n## Validation\n- b -->', '# 2. off', '### Sub', '   more', '\tmore'],
  ...['```sh\n## Validation\n1. x\n```', '   ~~~\n   a\n b\n   ~~~', '- bullet', '   1. nested', 'x `<!--` y', '   '],
);
const noises = fc.array(noise, { maxLength: 3 });
const documents = fc
  .record({
    gaps: fc.array(noises, { minLength: 6, maxLength: 6 }),
    head: fc.subarray(['', 'Text.', '<!-- 1. x -->', '### Sub']),
    markers: fc.constantFrom(['1. ', '2. ', '3. '], ['1) ', '1) ', '1) '], [' 9.  ', '10.  ', '11.  ']),
    count: fc.integer({ min: 1, max: 3 }),
    other: fc.boolean(),
    eol: eols,
    bom: fc.boolean(),
    final: fc.boolean(),
  })
  .map(({ gaps, head, markers, count, other, eol, bom, final }) => {
    const steps = markers.slice(0, count).flatMap((marker, i) => [`${marker}Step ${i}`, ...gaps[i]!]);
    const lines = ['# t', '## Configuration', '- qa: auto', ...gaps[3]!, '## Steps', ...head, ...steps];
    if (other) lines.push('## Other', ...gaps[4]!);
    lines.push('## Validation', '- Good', ...gaps[5]!);
    return (bom ? '\uFEFF' : '') + (lines.join('\n') + (final ? '\n' : '')).replaceAll('\n', eol);
  });
const texts = fc.array(
  fc
    .array(
      fc.constantFrom(
        'Do',
        ' ',
        '\n',
        '\n\n',
        '\n   x',
        '\n- y',
        '\n1. z',
        '\n## Steps',
        '\n```sh\na\n\n  b\n```\n',
        '\t',
      ),
    )
    .map((pieces) => `Step ${pieces.join('')}`),
  { minLength: 1, maxLength: 5 },
);

describe('properties', () => {
  test('F5 replaceSteps changes only the list, and nothing when repeated', () => {
    fc.assert(
      fc.property(documents, texts, (text, steps) => {
        const before = parseTask(text, 'f');
        const changed = replaceSteps(text, steps);
        expect(changed.slice(0, before.steps[0]!.start)).toBe(text.slice(0, before.steps[0]!.start));
        expect(changed.endsWith(text.slice(before.steps.at(-1)!.end))).toBe(true);
        const after = parseTask(changed, 'f');
        expect(stepTexts(after)).toEqual(steps.map((step) => step.trim()));
        expect(after.criteria.length).toBe(before.criteria.length);
        expect(replaceSteps(changed, stepTexts(after))).toBe(changed);
        if (text.includes('\r\n')) expect(changed.replaceAll('\r\n', '')).not.toContain('\n');
      }),
      { numRuns: 250 },
    );
  });

  test('F5 the same steps again are the same entries, and the same bytes if they were numbered from 1', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const before = parseTask(text, 'f');
        const again = replaceSteps(text, stepTexts(before));
        expect(stepTexts(parseTask(again, 'f'))).toEqual(stepTexts(before));
        expect(parseTask(again, 'f').steps.map((step) => step.blocks.map((block) => block.code))).toEqual(
          before.steps.map((step) => step.blocks.map((block) => block.code)),
        );
        if (/1\. Step 0/.test(text)) expect(again).toBe(text);
      }),
      { numRuns: 250 },
    );
  });

  test('F6 whatever the text, nothing but a NightshiftError is thrown', () => {
    const tokens = [
      '## Configuration\n',
      '## Steps\n',
      '## Validation\n',
      '- a: b\n',
      '1. a\n',
      '  ',
      '# ',
      '<!--',
      '-->',
    ];
    const piece = fc.oneof(fc.constantFrom(...tokens, '```', '\r', '\n'), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(piece), fc.array(piece), (a, b) => {
        const valid = `## Configuration\n${a.join('')}\n## Steps\n1. ${b.join('')}\n## Validation\n- ${a.join('')}`;
        for (const use of [
          () => taskWarnings(parseTask(a.join(''), 'f'), 'f'),
          () => replaceSteps(valid, [b.join('')]),
          () => replaceSteps(valid, stepTexts(parseTask(valid, 'f'))),
        ]) {
          try {
            use();
          } catch (error) {
            expect(error).toBeInstanceOf(NightshiftError);
          }
        }
      }),
      { numRuns: 250 },
    );
  });
});
