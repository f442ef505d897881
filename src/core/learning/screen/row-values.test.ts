import { describe, expect, it } from 'vitest';
import { generalise } from './generalise.ts';
import { readRowValues } from './row-values.ts';

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

describe('readRowValues', () => {
  it('L3 reads a large table once for all texts', () => {
    let reads = 0;
    function* many() {
      reads += 1;
      for (let i = 0; i < 20_000; i++) yield { slug: `page-${i}`, owner: `Owner ${i}`, note: 'Wait for the page' };
    }
    const texts = ['Wait for the page of the owner', 'Ask Owner 19999', 'Open page-7', 'Ask Owner 5'];
    const { columns, columnOf } = readRowValues(many(), texts, 'As Owner 5 says');
    expect([...columnOf]).toEqual([
      ['Ask Owner 19999', 'owner'],
      ['Open page-7', 'slug'],
    ]);
    expect([...columns]).toEqual(['slug', 'owner', 'note']);
    expect(reads).toBe(1);
  });
});
