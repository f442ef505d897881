import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import { findTerminal } from './io.ts';

const TERM = 'xterm-256color';

function on(env: Record<string, string>, isTTY = true) {
  const stdout = Object.assign(new EventEmitter(), { isTTY, columns: 60, rows: 0 });
  return { stdout, terminal: findTerminal(stdout, env) };
}

test.each([
  ['a pipe', { TERM }, false],
  ['TERM=dumb', { TERM: 'dumb' }, true],
  ['no TERM', {}, true],
  ['CI=true', { TERM, CI: 'true' }, true],
])('X8 plain lines, not a live view: %s', (_, env, isTTY) => {
  expect(on(env, isTTY).terminal).toBeUndefined();
});

test.each([
  ['nothing set', {}, true],
  ['NO_COLOR=1', { NO_COLOR: '1' }, false],
  ['NO_COLOR empty', { NO_COLOR: '' }, true],
  ['CI=false', { CI: 'false' }, true],
])('X8 a live view, with or without colour: %s', (_, env, colour) => {
  const { stdout, terminal } = on({ TERM, ...env });
  expect(terminal).toMatchObject({ colour, columns: 60, rows: 24 });
  const resized = vi.fn();
  const resizes = terminal!.onResize(resized);
  stdout.emit('resize');
  resizes[Symbol.dispose]();
  stdout.emit('resize');
  expect(resized).toHaveBeenCalledOnce();
});
