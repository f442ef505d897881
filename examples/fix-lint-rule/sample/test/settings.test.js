import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setting } from '../src/settings.js';

test('a setting that is null or missing has its default', () => {
  for (const settings of [null, undefined, {}, { rows: null }]) assert.equal(setting(settings, 'rows'), 20);
});

test('0 is a setting', () => {
  assert.equal(setting({ rows: 0 }, 'rows'), 0);
});
