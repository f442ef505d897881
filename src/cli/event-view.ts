import type { NightshiftEvent, TranscriptHappening } from '../core/events.ts';
import { plainLines } from '../views/plain.ts';
import type { Io } from './io.ts';
import { LiveTerminal } from './live-terminal.ts';
import type { Options } from './program.ts';

/** What shows a run to whoever looks on; disposing of it leaves the terminal as it was. */
export interface EventView extends Disposable {
  event(event: NightshiftEvent): void;
  heard(happening: Pick<TranscriptHappening, 'task' | 'item' | 'entry'>): void;
}

/** JSON for machines, the live view on a terminal, else plain lines. */
export function viewEvents(io: Io, { json, plain }: Options): EventView {
  if (!json && !plain && io.terminal) return new LiveTerminal(io.terminal, io.now);
  return {
    event: (event) => {
      if (json) io.print(JSON.stringify(event));
      else for (const line of plainLines(event)) io.print(line);
    },
    heard: () => {},
    [Symbol.dispose]: () => {},
  };
}
