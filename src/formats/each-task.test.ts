import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEachTask, type EachRequest, readRequestId, requestId } from './each-task.ts';
import { findUnwritten, parseTask } from './task.ts';

const ASKED: EachRequest = { text: 'Do {path}', isScript: false, checks: [], outputs: [] };

function read(request: EachRequest) {
  const text = createEachTask(request);
  const document = parseTask(text, 'do.md');
  const entry = ({ start, end, blocks }: (typeof document.steps)[number]) => ({
    source: text.slice(start, end),
    blocks: blocks.map(({ info, code }) => ({ info, code })),
  });
  return {
    text,
    settings: document.settings.map(({ key, value }) => `${key}: ${value}`),
    steps: document.steps.map(entry),
    criteria: document.criteria.map(entry),
    unwritten: findUnwritten(document),
  };
}

describe('F4 the task file of `each`', () => {
  test('F4 prose, checks and outputs are written as a person would', () => {
    const request = {
      ...ASKED,
      text: 'Translate {path}\nto German',
      checks: ['test -s "{path}.de"'],
      outputs: ['words', 'tone'],
    };
    const { text } = read(request);
    expect(text).toBe(`# do

<!-- Made by \`nightshift each\` (request ${requestId(request)}). You can edit everything below. -->

## Configuration

- outputs: words, tone

## Steps

1. Translate {path}
   to German

## Validation

- \`test -s "{path}.de"\`

  \`\`\`sh
  test -s "{path}.de"
  \`\`\`
`);
    expect(readRequestId(text)).toBe(requestId({ ...request, text: 'Translate {path}\r\nto German\n' }));
    expect(requestId({ ...request, checks: [] })).not.toBe(requestId(request));
  });

  test('F4 without a check, the criterion has the request, so that a qa knows what was asked', () => {
    const { criteria } = read(ASKED);
    expect(criteria).toEqual([{ source: '- It was done as asked\n\n  The request: Do {path}', blocks: [] }]);
  });

  test('F4 for an agent that runs scripts, the text is the script and its success is the criterion', () => {
    const { steps, criteria } = read({ ...ASKED, text: 'wc -w {path}\n', isScript: true });
    expect(steps.map(({ blocks }) => blocks)).toEqual([[{ info: 'sh', code: 'wc -w {path}\n' }]]);
    expect(criteria.map(({ blocks }) => blocks)).toEqual([[{ info: 'sh', code: 'true\n' }]]);
  });

  /** Pieces that mean something in a task file. */
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 12 }),
    fc.constantFrom(
      ...[
        '## Validation',
        '## Steps',
        '# do',
        '1. x',
        '2) y',
        '- z',
        '* z',
        '- max-cost: 5',
        'max-cost: 5',
        '---',
        '```',
      ],
      ...[
        '```sh',
        '~~~',
        '````text',
        '<!--',
        '-->',
        '`',
        '``',
        'Replace this: x',
        '{path}',
        '{{',
        '}',
        '\t',
        '   ',
        '> q',
      ],
      ...['- outputs: a', '# - key: value', '# 1. x', '\\', '<b>', '\u2028', '| a | b |', '\uFEFF'],
    ),
  );
  const text = fc
    .array(piece, { minLength: 1, maxLength: 8 })
    .chain((pieces) => fc.constantFrom('\n', '\n\n', '\r\n', '\r', ' ').map((joint) => pieces.join(joint)))
    .map((joined) => joined.replaceAll('\0', ''))
    .filter((joined) => joined.trim() !== '');

  test('F4 any text becomes one step and each check one criterion, and nothing else', () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), fc.boolean(), (asked, checks, isScript) => {
        const { settings, steps, criteria, unwritten } = read({ ...ASKED, text: asked, isScript, checks });
        const lines = (written: string) =>
          written
            .split(/\r\n|\n|\r/)
            .join('\n')
            .trim();
        expect({ settings, unwritten, steps: steps.length }).toEqual({ settings: [], unwritten: undefined, steps: 1 });
        const [block, ...more] = steps[0]!.blocks;
        if (block) expect([block.info, block.code]).toEqual([isScript ? 'sh' : 'text', `${lines(asked)}\n`]);
        else expect(steps[0]!.source.replace(/\n {3}/g, '\n')).toBe(`1. ${lines(asked)}`);
        expect(more).toEqual([]);
        if (checks.length === 0) expect(criteria).toHaveLength(1);
        else {
          const wanted = checks.map((check) => [{ info: 'sh', code: `${lines(check)}\n` }]);
          expect(criteria.map(({ blocks }) => blocks)).toEqual(wanted);
        }
      }),
      { numRuns: 150 },
    );
  });
});
