import assert from 'node:assert/strict';
import { test } from 'node:test';
import { invoiceLine } from '../index.js';

test('a line has the sum in EUR', () => {
  assert.equal(invoiceLine('lamp', 3, 1050), '3 x lamp: 31.50 EUR');
});
