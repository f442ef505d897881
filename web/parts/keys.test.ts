import { expect, test } from 'vitest';
import { keyFor } from './keys.ts';

const press = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  defaultPrevented: false,
  ...more,
});

test('a key with a modifier is left to the browser, so that Ctrl+F and Ctrl+R work as ever', () => {
  expect(keyFor(press('r'), 'none')).toBe('r');
  expect(keyFor(press('f', { ctrlKey: true }), 'none')).toBeUndefined();
  expect(keyFor(press('r', { metaKey: true }), 'none')).toBeUndefined();
  expect(keyFor(press('ArrowLeft', { altKey: true }), 'none')).toBeUndefined();
});

test('what is typed into a text is not a command', () => {
  expect(keyFor(press('r'), 'text')).toBeUndefined();
  expect(keyFor(press('Escape'), 'text')).toBeUndefined();
});

test('Enter and Space press the focused control and do nothing else', () => {
  expect(keyFor(press('Enter'), 'control')).toBeUndefined();
  expect(keyFor(press(' '), 'control')).toBeUndefined();
  expect(keyFor(press('j'), 'control')).toBe('j');
  expect(keyFor(press('Enter'), 'none')).toBe('Enter');
});
