import { mock } from 'node:test';
import { endLines, introLines } from '../../dist/cli/demo/lines.js';
import { LiveTerminal } from '../../dist/cli/live-terminal.js';
import { Screen } from './screen.mjs';

const STEP_MS = 25;
const SPELLING = { folder: 'nightshift-demo', nightshift: 'nightshift' };

/**
 * Replays a recorded run through the live view, on a screen of its own and with a simulated clock. Returns what the
 * screen showed, each frame with its time since the start in milliseconds.
 */
export function replay(entries, { columns, rows }) {
  const screen = new Screen(columns, rows);
  const frames = [];
  const start = entries[0].at;
  let now = start;
  const write = (text) => {
    screen.write(text);
    frames.push({ at: now - start, rows: screen.visible() });
  };
  write(['$ nightshift demo', ...introLines(SPELLING), ''].join('\n'));
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  try {
    const view = new LiveTerminal(
      { columns, rows, colour: true, write, onResize: () => ({ [Symbol.dispose]() {} }) },
      () => now,
    );
    for (const { at, event, heard, end, reason } of entries) {
      for (; now < at; now += STEP_MS) mock.timers.tick(STEP_MS);
      if (event) view.event(event);
      if (heard) view.heard(heard);
      if (!end) continue;
      view[Symbol.dispose]();
      write(['', ...endLines(end, reason, SPELLING), '$ '].join('\n'));
    }
  } finally {
    mock.timers.reset();
  }
  return frames;
}
