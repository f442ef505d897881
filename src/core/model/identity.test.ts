import { expect, test } from 'vitest';
import { describeMetadata, itemId, itemKey, versionOf } from './identity.ts';

test('T7 an item is known by names and values, wherever its columns stand', () => {
  expect(describeMetadata(['a', 'b'], ['1', '2'])).toBe(describeMetadata(['b', 'a'], ['2', '1']));
  expect(describeMetadata(['a', 'b'], ['1', '2'])).not.toBe(describeMetadata(['a', 'b'], ['2', '1']));
  // Nothing that a cell holds can look like the border between two cells.
  expect(describeMetadata(['a', 'b'], ['x","b","y', ''])).not.toBe(describeMetadata(['a', 'b'], ['x', 'y']));
  expect(describeMetadata(['a', 'b'], ['1'])).toBe(describeMetadata(['a', 'b'], ['1', '']));
});

test('T7 equal rows differ by their ordinal; keys by shift, task and item', () => {
  const metadata = describeMetadata(['a'], ['1']);
  expect(itemId(metadata, 0)).not.toBe(itemId(metadata, 1));
  const keys = [
    itemKey('s', 't', 'i'),
    itemKey('s2', 't', 'i'),
    itemKey('s', 't2', 'i'),
    itemKey('s', 't', 'i2'),
    itemKey('st', '', 'i'),
  ];
  expect(new Set(keys).size).toBe(5);
  expect(itemKey('s', 't', 'i')).toBe(keys[0]);
  expect(versionOf('a')).not.toBe(versionOf('a\n'));
});
