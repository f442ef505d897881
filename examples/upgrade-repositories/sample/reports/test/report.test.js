import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report } from '../index.js';

test('a report has one line for each day', () => {
  const sales = [
    { day: 'Mon', cents: 100 },
    { day: 'Tue', cents: 2550 },
  ];
  assert.equal(report(sales), 'Mon  1.00 EUR\nTue  25.50 EUR');
});
