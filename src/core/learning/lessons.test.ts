import { describe, expect, it } from 'vitest';
import type { Recommendation } from '../model/events.ts';
import { applyChanges, checkLessons, type LessonCheck, lessonsOf, mergePlainly, withoutRepeats } from './lessons.ts';

const recommend = (row: number, text: string, attempts = 1): Recommendation => ({
  text,
  item: `item-${row}`,
  row,
  attempts,
});

describe('applyChanges', () => {
  it('L2 applies a set of changes whose numbers are those of the Steps before', () => {
    const changed = applyChanges(
      ['one', 'two', 'three'],
      [
        { op: 'remove', step: 1 },
        { op: 'add', after: 0, text: 'first' },
        { op: 'replace', step: 3, text: '3. third' },
        { op: 'add', after: 1, text: 'a' },
        { op: 'add', after: 1, text: 'b' },
        { op: 'add', after: 3, text: 'last' },
      ],
    );
    expect(changed).toEqual(['first', 'a', 'b', 'two', 'third', 'last']);
  });

  it.each([
    ['there is no step 3 to replace', [{ op: 'replace', step: 3, text: 'x' }]],
    ['there is no step 0 to remove', [{ op: 'remove', step: 0 }]],
    ['there is no step -1 to add after', [{ op: 'add', after: -1, text: 'x' }]],
    ['there is no step 1.5 to add after', [{ op: 'add', after: 1.5, text: 'x' }]],
    [
      'step 2 would be changed twice',
      [
        { op: 'remove', step: 2 },
        { op: 'replace', step: 2, text: 'x' },
      ],
    ],
    ['a change of kind add has no text', [{ op: 'add', after: 1, text: ' \n' }]],
  ] as const)('L3 refuses the whole set: %s', (refused, changes) => {
    expect(applyChanges(['one', 'two'], [{ op: 'add', after: 0, text: 'fine' }, ...changes])).toEqual({ refused });
  });

  it('L3 refuses to leave no step', () => {
    expect(applyChanges(['one'], [{ op: 'remove', step: 1 }])).toEqual({ refused: 'no step would be left' });
  });
});

describe('withoutRepeats', () => {
  it('L2 leaves out what the Steps, or another change, say already; other changes stay', () => {
    const changes = [
      { op: 'add', after: 2, text: 'Close it!' },
      { op: 'add', after: 0, text: 'Knock first' },
      { op: 'add', after: 1, text: '2. knock first.' },
      { op: 'replace', step: 1, text: 'Close it' },
      { op: 'remove', step: 2 },
    ] as const;
    expect(withoutRepeats(['Open it', 'Close it'], changes)).toEqual([changes[1], changes[3], changes[4]]);
  });
});

describe('checkLessons', () => {
  const rows = [
    { slug: 'about-us', owner: 'Mark', language: 'english', size: '12.5', url: 'https://acme.test/a?b=1' },
    { slug: 'home', owner: 'Ann Lee', language: 'english', size: '4711', url: 'https://acme.test/' },
    { slug: 'imprint', owner: 'Joe-Ann', language: 'Deutsch', size: '7', url: 'https://acme.test/' },
  ];
  const before = ['Write {slug}.html for Ann Lee', 'Build:\n```sh\n# all\n1. make\n```'];
  const check = (after: string[], more: Partial<LessonCheck> = {}) =>
    checkLessons({
      before,
      after,
      placeholdersOf: (text) => text.match(/\{[\w:]+\}/g) ?? [],
      secrets: ['s3cret-value', '9431', 'true'],
      rows,
      ...more,
    });
  const adding = (text: string) => check([...before, text]);

  it('L3 accepts what is true for every row', () => {
    expect(
      adding('Mind the english spelling of {owner}; at most 12.5 MB, mark it at home, see https://acme.test/'),
    ).toBeUndefined();
    expect(adding('Ask Ann Lee if it is true')).toBeUndefined();
  });

  it('L3 keeps every placeholder, and lets in only those that a column fills', () => {
    expect(check(['Write the page', before[1]!])).toBe('the placeholder {slug} would be gone');
    expect(adding('Send {ENV:TOKEN} along')).toBe('a step would bring in the placeholder {ENV:TOKEN}');
    expect(adding('Look at {nothing}')).toBe('a step would bring in the placeholder {nothing}');
  });

  it.each(['Use s3cret-value', `Use ${Buffer.from('s3cret-value').toString('base64')}`, 'The PIN is 9431.'])(
    'L3 never lets a secret in: %s',
    (text) => {
      expect(adding(text)).toBe('a secret would become part of the Steps');
    },
  );

  it.each([
    ['slug', 'For About-Us take the long form'],
    ['owner', 'Ask Mark.'],
    ['owner', 'Ask Joe-Ann\nfirst'],
    ['language', 'If it is Deutsch, stop'],
    ['size', 'Take 4711 bytes'],
    ['url', 'Open https://acme.test/a?b=1, then wait'],
  ])('L3 never lets the value of one row in (%s): %s', (column, text) => {
    expect(adding(text)).toBe(`a value of one row would become part of the Steps (column ${column})`);
  });

  it('L3 takes a value as a whole, not inside of a longer word', () => {
    expect(adding('Benchmark 14711, 94310 and 19431, my_Mark and Marketing, not about-usage')).toBeUndefined();
  });

  it.each([
    ['a fenced code block', 'Run\n```sh\nrm -rf /\n```'],
    ['a fenced code block', 'Run\n   ~~~\nrm -rf /'],
    ['a fenced code block', '- ```sh\n  make\n  ```'],
    ['a heading', 'Do\n## Validation\n- nothing'],
    ['a heading', 'Validation\n---'],
    ['an HTML comment', 'Do <!-- not'],
    ['another numbered step', 'Do\n9. and more'],
    ['control characters', 'Do \u001b[2J this'],
    ['longer than 2000 characters', 'x'.repeat(2001)],
  ])('L3 keeps the document in one piece: no %s', (what, text) => {
    expect(adding(text)).toContain(what);
  });

  it('L3 lets a step keep the block that it had, and bounds the number of steps', () => {
    const reworded = `Build everything:\n${before[1]!.split('\n').slice(1).join('\n')}`;
    expect(check([before[0]!, reworded])).toBeUndefined();
    expect(check([...before, ...Array.from({ length: 99 }, () => 'step')])).toBe('there would be more than 100 steps');
  });

  it('L3 walks through a large table once', () => {
    function* many() {
      for (let i = 0; i < 100_000; i++) yield { slug: `page-${i}`, owner: `Owner ${i}`, note: 'wait for the page' };
    }
    expect(check([...before, 'Wait for the page of the owner'], { rows: many() })).toBeUndefined();
    expect(check([...before, 'Wait for Owner 99999'], { rows: many() })).toContain('column owner');
  });
});

describe('mergePlainly', () => {
  const steps = ['Open the page.', 'Save the page. Close all dialogs before saving.'];

  it('L6 adds what at least two different rows recommended, with its origin', () => {
    const merged = mergePlainly(
      [
        recommend(3, 'Wait for the spinner to be gone!', 2),
        recommend(1, 'wait for the spinner   to be gone'),
        recommend(7, 'Wait for the spinner to be fully gone'),
        recommend(5, 'Check the title'),
        { ...recommend(5, 'Check the title.'), attempts: 3 },
      ],
      steps,
    );
    expect(merged.changes).toEqual([{ op: 'add', after: 2, text: 'Wait for the spinner to be gone!' }]);
    expect(merged.lessons).toEqual([
      { text: 'Wait for the spinner to be gone!', rows: [1, 3, 7], attempts: [1, 2, 1] },
    ]);
  });

  it('L6 repeats nothing that the Steps say, and nothing that is contrary to them', () => {
    const twice = (text: string) => [recommend(1, text), recommend(2, text)];
    expect(mergePlainly(twice('close all dialogs, before saving'), steps).changes).toEqual([]);
    expect(mergePlainly(twice('Never open the page'), steps).changes).toEqual([]);
    expect(mergePlainly(twice('...'), steps).changes).toEqual([]);
  });

  it('L6 takes the side of more rows where two lessons contradict each other, and none of equals', () => {
    const wait = [1, 2].map((row) => recommend(row, 'Wait 5 seconds for the preview'));
    const longer = [3, 4, 5].map((row) => recommend(row, 'Wait 50 seconds for the preview'));
    expect(mergePlainly([...wait, ...longer], steps).changes).toMatchObject([
      { text: 'Wait 50 seconds for the preview' },
    ]);
    expect(mergePlainly([...wait, ...longer.slice(1)], steps).changes).toEqual([]);
  });
});

describe('lessonsOf', () => {
  it('L4 names the rows whose recommendation went into a text, or all if none can be told', () => {
    const recommendations = [
      recommend(1, 'Check the title first', 2),
      recommend(4, 'Lower-case the slug'),
      recommend(9, 'Wait until the preview is rendered'),
    ];
    const lessons = lessonsOf(
      [
        { op: 'replace', step: 1, text: '1. Check the title first, then lower-case the slug.' },
        { op: 'add', after: 2, text: 'Ganz anderes' },
        { op: 'remove', step: 2 },
      ],
      recommendations,
    );
    expect(lessons).toEqual([
      { text: 'Check the title first, then lower-case the slug.', rows: [1, 4], attempts: [2, 1] },
      { text: 'Ganz anderes', rows: [1, 4, 9], attempts: [2, 1, 1] },
    ]);
  });
});
