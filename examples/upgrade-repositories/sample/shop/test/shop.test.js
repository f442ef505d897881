import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUp } from '../index.js';

test('prices are added up, in EUR', () => {
  assert.equal(addUp(['12.34', '0.66']), '13.00 EUR');
});

test('no prices are 0', () => {
  assert.equal(addUp([]), '0.00 EUR');
});
