import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greeting } from '../src/visitor.js';

const known = [{ id: 7, name: 'Ada' }];

test('a visitor is known by an id, as a number or a text', () => {
  assert.equal(greeting({ id: '7', name: 'x' }, known), 'Welcome back, Ada');
  assert.equal(greeting({ id: 7, name: 'x' }, known), 'Welcome back, Ada');
});

test('others are greeted by name', () => {
  assert.equal(greeting({ id: '8', name: 'Bo' }, known), 'Hello, Bo');
});
