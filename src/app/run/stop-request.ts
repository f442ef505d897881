import type { Stop } from '../../engine/ports.ts';
import type { EventStream } from './event-stream.ts';

/** The reason of an aborted stop signal: who asked, such as `SIGINT`. */
export class StopRequest extends Error {
  override readonly name = 'AbortError';
  readonly by: string;

  constructor(by: string) {
    super(`stopped by ${by}`);
    this.by = by;
  }
}

/** Emits an event for each stop signal, before the engine reacts to it; until it is disposed. */
export function tellStops(stop: Stop, stream: EventStream): Disposable {
  const over = new AbortController();
  const tell = (signal: AbortSignal, type: 'run:draining' | 'run:stopping') => {
    const by = () => (signal.reason instanceof StopRequest ? signal.reason.by : 'abort');
    const listener = () => stream.emit({ type, signal: by(), running: stream.running });
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true, signal: over.signal });
  };
  tell(stop.drain, 'run:draining');
  tell(stop.now, 'run:stopping');
  return { [Symbol.dispose]: () => over.abort() };
}
