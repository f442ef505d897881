import { expect, test } from 'vitest';
import { withCurrentName } from './older-events.ts';

test('X7 a journal that says `limit:changed` is read as `concurrency:changed`; all other events stay as they are', () => {
  const line =
    '{"type":"limit:changed","at":"2026-11-15T21:24:03.342Z","run":"r","seq":20,"shift":"s","from":2,"to":4}';
  expect(withCurrentName(JSON.parse(line))).toEqual({ ...JSON.parse(line), type: 'concurrency:changed' });
  for (const type of ['usage:spent', 'constructor']) expect(withCurrentName({ type })).toEqual({ type });
});
