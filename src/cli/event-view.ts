import type { NightshiftEvent, TranscriptHappening } from '../core/model/events.ts';
import { pageLine } from '../views/page-lines.ts';
import { plainLines } from '../views/plain.ts';
import { RepeatedReasons } from '../views/repeated-reasons.ts';
import type { Io } from './io.ts';
import type { Options } from './program.ts';

/** Shows a run. Disposing of it leaves the terminal as it was. */
export interface EventView extends Disposable {
  event(event: NightshiftEvent): void;
  heard(happening: Pick<TranscriptHappening, 'task' | 'item' | 'entry'>): void;
  /** A page that shows the same is served here. */
  page(url: string): void;
  /** A line for the person, beside the events. */
  note(line: string): void;
}

/** What Ctrl-C does when the run is in another process. */
export const ONLY_WATCHING = 'Ctrl-C here only stops watching.';

export interface ViewOptions {
  /** Where the shift is, to shorten paths. */
  readonly root?: string;
  /** What Ctrl-C does, if not stop the run. */
  readonly ctrlC?: string;
}

/** JSON for programs, the live view on a terminal, else plain lines. */
export async function viewEvents(io: Io, { json, plain }: Options, options: ViewOptions): Promise<EventView> {
  if (!json && !plain && io.terminal) {
    const { LiveTerminal } = await import('./live-terminal.ts');
    return new LiveTerminal(io.terminal, io.now, options);
  }
  const { ctrlC } = options;
  const repeated = new RepeatedReasons();
  return {
    event: (event) => {
      if (json) io.print(JSON.stringify(event));
      else for (const line of plainLines(repeated.shorten(event), ctrlC)) io.print(line);
    },
    heard: () => {},
    // Standard output holds nothing but events then.
    page: (url) => (json ? io.warn(pageLine(url)) : io.print(pageLine(url))),
    note: io.warn,
    [Symbol.dispose]: () => {},
  };
}
