import { describe, expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { parseManager } from './manager.ts';
import { parseTask } from './task.ts';

function failure(work: () => unknown): Partial<NightshiftError> | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
}

const manager = (lines: string, more = '') =>
  failure(() =>
    parseManager(
      `# night\n\n## Shift Configuration\n\n- name: night\n${lines}\n\n## Task Order\n\n1. work\n${more}`,
      'm',
    ),
  );
const task = (configuration: string, { steps = '1. go', validation = '- fine', more = '' } = {}) =>
  failure(() =>
    parseTask(`## Configuration\n${configuration}\n## Steps\n${steps}\n## Validation\n${validation}\n${more}`, 't'),
  );

describe('X6 in manager.md', () => {
  test.each([
    'max-cost: 1',
    'max-cost 1',
    '  - max-cost: 1',
    '    max-cost: 1',
    '1. max-cost: 1',
    '• max-cost: 1',
    '– max-cost: 1',
    '-\u00a0max-cost: 1',
    '-max-cost: 1',
    '> - max-cost: 1',
    '| max-cost | 1 |',
    '- max-cost = 1',
    '- max-cost 1',
    '- max-cost one',
    '- max-cost -1',
    '- max-cost： 1',
    '- **max-cost**: 1',
    '- max-costs: 1',
    '- max_cost: 1',
    '- Max-Cost: 1',
    '- Max Cost: 1',
    '- maxcost: 1',
    '- maxCost: 1',
    '- max‑cost: 1',
    '- mxa-cost: 1',
    '- max-tokes: 1',
    '```\n- max-cost: 1\n```',
  ])('%j is refused with its line and what to write', (line) => {
    const found = manager(line);
    expect(found).toMatchObject({ code: 'bad-manager', file: 'm', line: line.startsWith('```') ? 7 : 6 });
    expect(found?.message).toMatch(/nothing is limited$/);
    expect(found?.hint).toMatch(/- max-(cost|tokens): (1|-1|one)`/);
  });

  test.each(['- max-cost', '- budget: 5', '- cost-limit: 5', '- max-price: 5', '- token-limit: 1M', '- untill: 07:00'])(
    '%j is refused',
    (line) => expect(manager(line)).toMatchObject({ code: 'bad-manager', line: 6 }),
  );

  test.each(['- max-cost: 1', '* max-cost: 1', '+ max-cost: 1', '- `max-cost`: 1', '- max-cost:', '- until: 07:00'])(
    '%j is an entry of the list, whose value is read',
    (line) => expect(manager(line)).toBeUndefined(),
  );

  test.each([
    '<!-- max-cost: 1 -->',
    '# - max-cost: 1',
    '# max-cost: 1',
    '- # max-cost: 1',
    '- unit: euro',
    '- max-batch-sise: 4',
    '- mood: good',
    '- command: max-cost: 1',
  ])('%j limits nothing, and nobody believes that it does', (line) => expect(manager(line)).toBeUndefined());

  test.each(['- max-cost: 1', 'max-cost: 1', '2. max-cost: 1', 'until: 07:00', 'max cost: 5', 'Max-tokens: many'])(
    'another section has %j',
    (line) => {
      const found = [
        manager('', `${line}\n`),
        manager('', `\n## Progress\n${line}\n`),
        manager('', `\n## Notes\n${line}\n`),
      ];
      expect(found.map((each) => each?.line)).toEqual([11, 13, 13]);
      expect(found[2]).toMatchObject({
        message: expect.stringContaining('another section'),
        hint: expect.stringContaining('below `## Shift Configuration`'),
      });
    },
  );

  test('sentences and examples in other sections are left alone', () => {
    const notes =
      'Max cost: Bob said five dollars\nuntil we know more\nThe max-cost: 5 of old\n```\n- max-cost: 1\n```\n<!-- max-cost: 2 -->';
    expect(manager('', `\n## Notes\n${notes}\n`)).toBeUndefined();
  });
});

describe('X6 in a task file', () => {
  test.each(['- max-cost: 1', 'max-cost: 1', '- max-costs: 1', '- max_tokens: 5', '  - until: 07:00', '- Max-Cost: 1'])(
    '%j is refused: limits are those of the shift',
    (line) =>
      expect(task(line)).toMatchObject({
        code: 'bad-task',
        file: 't',
        line: 2,
        hint: expect.stringContaining('manager.md'),
      }),
  );

  test('also below the other headings', () => {
    expect(task('', { steps: '1. go\n- max-cost: 1' })).toMatchObject({ line: 5 });
    expect(task('', { validation: '- max-cost: 1' })).toMatchObject({ line: 6 });
    expect(task('', { more: '## Notes\nmax-cost: 1\n' })).toMatchObject({ line: 8 });
  });

  test('prose that only resembles a limit is prose', () => {
    const validation = '- Max cost: under $5\n- max-duration: at most as long as the film\n- until: 07:00';
    expect(task('', { steps: '1. Max tokens: 5\n   ```sh\n   max-cost: 1\n   ```', validation })).toBeUndefined();
  });
});
