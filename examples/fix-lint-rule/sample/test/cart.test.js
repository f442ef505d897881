import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEmpty, total } from '../src/cart.js';

test('lines are added up', () => {
  assert.equal(total([{ price: 2, quantity: '3' }, { price: 5, quantity: 1 }]), 11);
});

test('a quantity of 0 is skipped, as a text too', () => {
  assert.equal(total([{ price: Number.NaN, quantity: '0' }, { price: Number.NaN, quantity: 0 }]), 0);
});

test('a cart that is null, missing or without lines is empty', () => {
  assert.deepEqual([null, undefined, { lines: [] }, { lines: [1] }].map(isEmpty), [true, true, true, false]);
});
