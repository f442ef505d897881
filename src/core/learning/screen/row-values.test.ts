import { describe, expect, it } from 'vitest';
import { fromFolder, generalise } from './generalise.ts';
import { createSecretFinder, readRowValues } from './row-values.ts';

describe('generalise', () => {
  const rows = [
    { slug: 'about-us', owner: 'Ann Lee', country: 'Germany', title: 'About us (new)' },
    { slug: 'home', owner: 'Mark', country: 'Germany', title: 'Home' },
    { slug: 'imprint-1', owner: 'imprint-1', country: 'France', title: 'slug' },
  ];
  const from = (row: number, text: string) => generalise([{ text, metadata: rows[row]! }], rows)[0];

  it.each([
    [0, 'Ask Ann\n  Lee about pages/about-us/index.html.', 'Ask {owner} about pages/{slug}/index.html.'],
    [0, 'ANN LEE keeps the title ABOUT US (NEW).', '{owner} keeps the title {title}.'],
    // Several rows have it; the word has another case; it is part of a longer word.
    [0, 'Postal codes in Germany have five digits.', 'Postal codes in Germany have five digits.'],
    [1, 'Ask Mark where to mark it, not Markus.', 'Ask {owner} where to mark it, not Markus.'],
    // Two columns have it.
    [2, 'Open imprint-1 first.', 'Open imprint-1 first.'],
    [0, 'Keep {slug} and {owner} for Ann Lee.', 'Keep {slug} and {owner} for {owner}.'],
  ])('L3 turns a value that only its row has back into the placeholder: row %i, %s', (row, text, expected) => {
    expect(from(row, text)).toBe(expected);
  });
});

describe('createSecretFinder', () => {
  const holdsSecret = createSecretFinder(['s3cret-value', '9431', 'true']);

  it.each(['Use s3cret-value', `Use ${Buffer.from('s3cret-value').toString('base64')}`, 'The PIN is 9431.'])(
    'L3 finds a secret: %s',
    (text) => {
      expect(holdsSecret(text)).toBe(true);
    },
  );

  it('L3 takes a short secret as a whole word, and a common word for none', () => {
    expect(holdsSecret('If it is true, take 94310 or 19431')).toBe(false);
  });
});

describe('readRowValues', () => {
  const rows = [
    { slug: 'about-us', owner: 'Mark', language: 'english', size: '12.5', url: 'https://acme.test/a?b=1' },
    { slug: 'home', owner: 'Ann Lee', language: 'english', size: '4711', url: 'https://acme.test/' },
    { slug: 'imprint', owner: 'Joe-Ann', language: 'Deutsch', size: '7', url: 'https://acme.test/' },
  ];
  const columnIn = (text: string) => readRowValues(rows, [text], 'Write {slug}.html for Ann Lee').get(text);

  it.each([
    ['slug', 'For About-Us take the long form'],
    ['owner', 'Ask Mark.'],
    ['owner', 'Ask Joe-Ann\nfirst'],
    ['language', 'If it is Deutsch, stop'],
    ['size', 'Take 4711 bytes'],
    ['url', 'Open https://acme.test/a?b=1, then wait'],
  ])('L3 finds the value of one row (%s): %s', (column, text) => {
    expect(columnIn(text)).toBe(column);
  });

  it.each([
    'Mind the english spelling of {owner}; at most 12.5 MB, mark it at home, see https://acme.test/',
    'Ask Ann Lee if it is true',
    'Benchmark 14711, 94310 and 19431, my_Mark and Marketing, not about-usage',
  ])('L3 leaves what is true for several rows, or stands in the Steps: %s', (text) => {
    expect(columnIn(text)).toBeUndefined();
  });

  it('L3 reads a large table once for all texts', () => {
    let reads = 0;
    function* many() {
      reads += 1;
      for (let i = 0; i < 20_000; i++) yield { slug: `page-${i}`, owner: `Owner ${i}`, note: 'Wait for the page' };
    }
    const texts = ['Wait for the page of the owner', 'Ask Owner 19999', 'Open page-7', 'Ask Owner 5'];
    const columnOf = readRowValues(many(), texts, 'As Owner 5 says');
    expect([...columnOf]).toEqual([
      ['Ask Owner 19999', 'owner'],
      ['Open page-7', 'slug'],
    ]);
    expect(reads).toBe(1);
  });
});

it('L3 an absolute path below the working folder is one from there; others stay, and so does one that leads out', () => {
  const inside = (text: string) => fromFolder(text, '/srv/ann/site');
  expect(inside('Look in /srv/ann/site/src/util.ts, then in (/srv/ann/site/docs).')).toBe(
    'Look in src/util.ts, then in (docs).',
  );
  for (const text of [
    'Read /srv/ann/site-old/a.md',
    'Read /backup/srv/ann/site/a.md',
    'Read /srv/ann/site/../keys',
    'Read /srv/ann/site/.env',
    'Read /srv/ann/site//etc/passwd',
    'Read /etc/passwd',
  ]) {
    expect(inside(text)).toBe(text);
  }
  expect(fromFolder('Read /etc/passwd', '/')).toBe('Read /etc/passwd');
});
