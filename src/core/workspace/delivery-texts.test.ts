import { expect, test } from 'vitest';
import { deliveryTexts } from './delivery-texts.ts';

const none = { message: undefined, title: undefined, body: undefined };
const row = { shift: 'upgrade', row: 3, label: 'libgd' };

test('W8 a commit and a pull request say what they are about, whatever the shift says', () => {
  const origin = 'Row 3 of the Nightshift shift upgrade.';
  expect(deliveryTexts(none, row)).toEqual({
    message: `upgrade: libgd\n\n${origin}`,
    title: 'upgrade: libgd',
    body: origin,
  });
  expect(deliveryTexts({ ...none, message: ' ' }, { ...row, label: undefined }).title).toBe('upgrade: row 3');
  const own = deliveryTexts({ ...none, message: 'Use zlib 2\n\nBecause 1 is old.' }, row);
  expect(own).toEqual({
    message: 'Use zlib 2\n\nBecause 1 is old.',
    title: 'Use zlib 2',
    body: 'Because 1 is old.',
  });
  expect(deliveryTexts({ message: 'a', title: 'T\nU', body: 'B' }, row)).toEqual({
    message: 'a',
    title: 'T',
    body: 'B',
  });
});
