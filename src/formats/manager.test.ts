import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NightshiftError } from '../core/model/errors.ts';
import { addTask, createManager, parseManager, readShiftSettings, setProgress, setSetting } from './manager.ts';
import { findSections, scan } from './markdown.ts';

const MANAGER = `# Night

## Shift Configuration

- name: my-shift
* created: 2026-02-08
- parallel: \`TRUE\` <!-- a word
- max-batch-size: 3
-->
# - current-batch-size: 7
- # disable-self-improvement: true
+ paralel: x
\`\`\`
- agent: no
\`\`\`

## Notes

Mine.

## Task Order

1. create_page
<!-- 2. dropped -->
3. # dropped
# 2. dropped_too
2. \`check_page\`

## Progress

- **Total items:** 10
Completed: 3 (30 %)
- failed: TBD
`;

function failure(text: string): NightshiftError {
  try {
    parseManager(text, 'manager.md');
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('reading', () => {
  test('F2 comments, lines behind # and code are not active', () => {
    const { settings, tasks, progress } = parseManager(MANAGER, 'manager.md');
    expect(settings).toEqual([
      { key: 'name', value: 'my-shift', line: 5 },
      { key: 'created', value: '2026-02-08', line: 6 },
      { key: 'parallel', value: 'TRUE', line: 7 },
      { key: 'paralel', value: 'x', line: 12 },
    ]);
    expect(tasks).toEqual([
      { name: 'create_page', line: 23 },
      { name: 'check_page', line: 27 },
    ]);
    expect(progress).toEqual({ total: 10, completed: 3 });
  });

  test('F2 the quotes around a value are not part of it, quotes inside are', () => {
    const lines = ['- a: "b c"', "- d: 'e'", '- command: "my program" --name "x"', '- f: "'];
    const { settings } = parseManager(`## Shift Configuration\n${lines.join('\n')}\n## Task Order\n`, 'manager.md');
    expect(settings.map((setting) => setting.value)).toEqual(['b c', 'e', '"my program" --name "x"', '"']);
  });

  test('F2 unknown keys are reported once, with the key that was meant', () => {
    const { settings, warnings } = readShiftSettings(parseManager(MANAGER, 'manager.md'), 'manager.md');
    expect(settings).toEqual({
      name: 'my-shift',
      created: '2026-02-08',
      parallel: true,
      sequence: 'tasks',
      stream: false,
      lessons: { mode: 'eager', budget: { lessons: 20, bytes: 6144 }, holdout: 0 },
      patienceMs: 900_000,
      isPatienceSet: false,
      hasReport: true,
      limits: {},
    });
    expect(warnings).toEqual(['unknown key `paralel` (manager.md line 12); did you mean `parallel`?']);
  });

  test.each([
    ['- parallel: yes', { parallel: false }, 1],
    ['- parallel true', { parallel: false }, 1],
    ['- parallel:true', { parallel: true }, 0],
    ['- parallel: True\n- current-batch-size: 0\n- max-batch-size: 2.5', { parallel: true }, 2],
    ['- parallel: true\n- current-batch-size: "4"\n- max-batch-size: 8', { batchSize: 4, maxBatchSize: 8 }, 0],
    ['- current-batch-size: many', { parallel: false, sequence: 'rows' }, 0],
    ['- parallel: true\n- order: rows', { sequence: 'rows' }, 0],
    ['- order: tasks', { parallel: false, sequence: 'tasks' }, 0],
    ['- order: columns', { sequence: 'rows' }, 1],
    [
      '- disable-self-improvement: true\n- patience: 1h',
      { lessons: { mode: 'off' }, patienceMs: 3_600_000, isPatienceSet: true },
      0,
    ],
    ['- report: false', { hasReport: false }, 0],
    ['- report: never', { hasReport: true }, 1],
    ['- patience: soon', { lessons: { mode: 'eager' }, patienceMs: 900_000, isPatienceSet: false }, 1],
  ])('P5 %j: what cannot be used is warned about and left out', (lines, expected, count) => {
    const document = parseManager(`## Shift Configuration\n${lines}\n## Task Order\n1. a\n`, 'manager.md');
    const { settings, warnings } = readShiftSettings(document, 'manager.md');
    expect(settings).toMatchObject(expected);
    expect(settings.batchSize).toBe('batchSize' in expected ? expected.batchSize : undefined);
    expect(warnings).toHaveLength(count);
  });

  test.each([
    ['## Task Order\n', 'bad-manager', /no section `## Shift Configuration`/, 1],
    ['## Shift Configuration\n\n## Tasks Order\n', 'bad-manager', /no section `## Task Order`/, 3],
    ['## Shift Configuration\n- a: 1\n- a: 2\n## Task Order\n', 'bad-manager', /`a` is set twice/, 3],
    ['## Shift Configuration\n## Task Order\n1. a\n2. `a`\n', 'bad-manager', /a is in the Task Order twice/, 4],
    ['## Shift Configuration\n## Task Order\n1. create-page\n', 'bad-name', /"create-page" is not a task name/, 3],
    ['## Shift Configuration\n## Task Order\n- a\n', 'bad-manager', /not a numbered list/, 3],
    ['## Shift Configuration\n## Task Order\n## task order\n', 'bad-manager', /appears twice/, 3],
    ['## Shift Configuration\n<!--\n## Task Order\n', 'bad-manager', /comment is never closed/, 2],
  ])('F6 %j: an error with file, line and what to do', (text, code, message, line) => {
    const error = failure(text);
    expect(error).toMatchObject({ code, line, file: 'manager.md', message: expect.stringMatching(message) });
    expect(error.hint).toBeTruthy();
  });
});

describe('editing', () => {
  test('P4 a changed value replaces only its own bytes, a new one follows the last setting', () => {
    expect(setSetting(MANAGER, 'parallel', 'false')).toBe(MANAGER.replace('TRUE', 'false'));
    expect(setSetting(MANAGER, 'max-batch-size', '9')).toBe(
      MANAGER.replace('+ paralel: x\n', '+ paralel: x\n+ max-batch-size: 9\n'),
    );
    const bare = '## Task Order\r\n## Shift Configuration';
    expect(setSetting(bare, 'a', '1')).toBe(`${bare}\r\n\r\n- a: 1`);
    expect(setSetting('## Shift Configuration\n- a:\n', 'a', '1')).toBe('## Shift Configuration\n- a: 1\n');
    const commented = '## Shift Configuration\n- a: 1 <!-- one\ntwo -->\n';
    expect(setSetting(commented, 'b', '2')).toBe(`${commented}- b: 2\n`);
    for (const indent of ['', '  ']) {
      const script = `## Shift Configuration\n- setup:\n${indent}~~~sh\n${indent}until a; do b; done\n${indent}~~~\n`;
      expect(setSetting(script, 'b', '2')).toBe(`${script}- b: 2\n`);
    }
    expect(() => setSetting(MANAGER, 'name', 'a\n- b: c')).toThrow(NightshiftError);
  });

  test('M5 Progress keeps its style; missing lines and a missing section are added', () => {
    const counts = { total: 12, completed: 5, failed: 1, remaining: 6 };
    const expected = MANAGER.replace('10\n', '12\n').replace('3 (', '5 (').replace('TBD\n', '1\n- Remaining: 6\n');
    expect(setProgress(MANAGER, counts)).toBe(expected);
    expect(setProgress('## Task Order\r\n1. a', counts)).toBe(
      '## Task Order\r\n1. a\r\n\r\n## Progress\r\n\r\n- Total items: 12\r\n- Completed: 5\r\n- Failed: 1\r\n- Remaining: 6',
    );
  });

  test('F2 a task is added in the style of the list', () => {
    expect(addTask(MANAGER, 'more')).toBe(MANAGER.replace('`check_page`\n', '`check_page`\n3. `more`\n'));
    expect(addTask('## Task Order\n 1) a\n 1) b\n## X', 'c')).toBe('## Task Order\n 1) a\n 1) b\n 1) c\n## X');
    expect(() => addTask(MANAGER, 'No-Name')).toThrow(NightshiftError);
  });

  test('F2 what create writes can be read, and the first task goes below the explanation', () => {
    const created = createManager({ name: 'x', created: '2026-01-02', parallel: true, settings: { agent: 'shell' } });
    const document = parseManager(addTask(addTask(created, 'one'), 'two'), 'manager.md');
    expect(document.tasks.map((task) => task.name)).toEqual(['one', 'two']);
    expect(document.progress).toEqual({ total: 0, completed: 0, failed: 0, remaining: 0 });
    const { settings, warnings } = readShiftSettings(document, 'manager.md');
    expect(settings).toMatchObject({ name: 'x', created: '2026-01-02', parallel: true, maxBatchSize: 8 });
    expect(warnings).toEqual([]);
    expect(addTask(created, 'one')).toContain('all three. -->\n\n1. one\n\n## Progress');
    expect(createManager({ name: 'x', created: '2026-01-02', parallel: false })).not.toContain('max-batch-size');
  });
});

/** Documents as people leave them: noise between the lines, any line end, with or without BOM and final line end. */
const noise = fc.constantFrom(
  ...['', '', 'Some text.', '<!-- - max-batch-size: 1 -->', '<!-- a\n## Progress\n- b -->', '# - max-batch-size: 1'],
  ...['```sh\n## Task Order\n- max-batch-size: 5\n```', '~~~\n<!--\n~~~', '### Sub', '  - nested: 1', 'x `<!--` y'],
);
const noises = fc.array(noise, { maxLength: 3 });
const documents = fc
  .record({
    title: noises,
    settings: fc.subarray(['- name: a-b', '- max-batch-size: 4', '* parallel: "true" <!-- c -->', '- zzz: ']),
    inner: fc.array(noises, { minLength: 12, maxLength: 12 }),
    tasks: fc.subarray(['one', '`two`', 'three <!-- c -->']),
    progress: fc.option(fc.subarray(['- Total items: 1', '**Completed**: 2', 'failed: x', '- Remaining:'])),
    other: fc.boolean(),
    eol: fc.constantFrom('\n', '\r\n'),
    bom: fc.boolean(),
    final: fc.boolean(),
  })
  .map(({ title, settings, inner, tasks, progress, other, eol, bom, final }) => {
    const lines = [...title, '## Shift Configuration', ...settings.flatMap((line, i) => [line, ...inner[i]!])];
    if (other) lines.push('## Other', ...inner[4]!);
    lines.push('## Task Order', ...tasks.flatMap((name, i) => [`${i + 1}. ${name}`, ...inner[6 + i]!]));
    if (other) lines.push('## Another', ...inner[5]!);
    if (progress !== null) lines.push('## Progress', ...progress.flatMap((line, i) => [line, ...(inner[9 + i] ?? [])]));
    const text = lines.join('\n') + (final ? '\n' : '');
    return (bom ? '\uFEFF' : '') + text.replaceAll('\n', eol);
  });

/** What is left of the old text where the two differ, and what stands there now. */
function difference(before: string, after: string): { removed: string; added: string } {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { removed: before.slice(start, before.length - end), added: after.slice(start, after.length - end) };
}

describe('properties', () => {
  test('F5 setSetting changes one value or adds one line, and nothing when repeated', () => {
    fc.assert(
      fc.property(documents, fc.constantFrom('max-batch-size', 'parallel', 'zzz', 'new'), (text, key) => {
        const before = parseManager(text, 'f');
        const changed = setSetting(text, key, '77');
        const { removed, added } = difference(text, changed);
        expect(before.settings.find((setting) => setting.key === key)?.value ?? '').toContain(removed);
        expect(added.length).toBeLessThanOrEqual(`\r\n\r\n- ${key}: 77`.length);
        expect(setSetting(changed, key, '77')).toBe(changed);
        const after = parseManager(changed, 'f');
        expect(after.settings.find((setting) => setting.key === key)?.value).toBe('77');
        const others = (document: typeof after) => document.settings.filter((s) => s.key !== key).map((s) => s.value);
        expect(others(after)).toEqual(others(before));
        expect(after.tasks.map((task) => task.name)).toEqual(before.tasks.map((task) => task.name));
      }),
      { numRuns: 250 },
    );
  });

  test('F5 addTask only inserts, once', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const changed = addTask(text, 'new_task');
        expect(difference(text, changed).removed).toBe('');
        expect(addTask(changed, 'new_task')).toBe(changed);
        const names = (from: string) => parseManager(from, 'f').tasks.map((task) => task.name);
        expect(names(changed)).toEqual([...names(text), 'new_task']);
      }),
      { numRuns: 250 },
    );
  });

  test('F5 setProgress changes only the Progress section, and nothing when repeated', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const counts = { total: 101, completed: 102, failed: 103, remaining: 104 };
        const changed = setProgress(text, counts);
        const section = findSections(scan(text), 'Progress')[0];
        expect(changed.startsWith(text.slice(0, section?.start))).toBe(true);
        expect(changed.endsWith(text.slice(section?.end ?? text.length))).toBe(true);
        expect(parseManager(changed, 'f').progress).toEqual(counts);
        expect(parseManager(changed, 'f').settings).toEqual(parseManager(text, 'f').settings);
        expect(setProgress(changed, counts)).toBe(changed);
        expect(changed.endsWith('\n')).toBe(text.endsWith('\n'));
      }),
      { numRuns: 250 },
    );
  });

  test('F6 whatever the text, nothing but a NightshiftError is thrown', () => {
    const tokens = ['## Shift Configuration\n', '## Task Order\n', '- a: b\n', '1. a\n', '# ', '<!--', '-->', '```\n'];
    const texts = fc.array(
      fc.oneof(fc.constantFrom(...tokens, '\r', '\n', ' ', ':', '`'), fc.string({ unit: 'binary' })),
    );
    fc.assert(
      fc.property(texts, (pieces) => {
        const text = pieces.join('');
        for (const use of [
          () => readShiftSettings(parseManager(text, 'f'), 'f'),
          () => setSetting(text, 'a', '1'),
          () => addTask(text, 'b'),
          () => setProgress(text, { total: 1, completed: 1, failed: 0, remaining: 0 }),
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
