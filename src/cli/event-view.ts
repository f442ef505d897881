import type { NightshiftEvent, TranscriptHappening } from '../core/model/events.ts';
import { plainLines } from '../views/plain.ts';
import type { Io } from './io.ts';
import { LiveTerminal } from './live-terminal.ts';
import type { Options } from './program.ts';

/** What shows a run to whoever looks on; disposing of it leaves the terminal as it was. */
export interface EventView extends Disposable {
  event(event: NightshiftEvent): void;
  heard(happening: Pick<TranscriptHappening, 'task' | 'item' | 'entry'>): void;
}

/** What Ctrl-C does where the run is another process's. */
export const ONLY_WATCHING = 'Ctrl-C here only stops watching.';

/** JSON for machines, the live view on a terminal, else plain lines. `ctrlC`: what that does, if not to the run. */
export function viewEvents(io: Io, { json, plain }: Options, ctrlC?: string): EventView {
  if (!json && !plain && io.terminal) return new LiveTerminal(io.terminal, io.now, ctrlC);
  return {
    event: (event) => {
      if (json) io.print(JSON.stringify(event));
      else for (const line of plainLines(event, ctrlC)) io.print(line);
    },
    heard: () => {},
    [Symbol.dispose]: () => {},
  };
}
