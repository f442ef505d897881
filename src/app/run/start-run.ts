import type { NightshiftEvent } from '../../core/model/events.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Run, RunResult } from '../api.ts';
import type { World } from '../world.ts';
import { EventQueue } from './event-queue.ts';
import type { RunSettings } from './plan-run.ts';
import { runFolder } from './run-shift.ts';

/**
 * Starts a run whose events can be read. `prepare` returns its settings, or its result if there is nothing to run. If
 * `prepare` throws, the run ends with that error.
 */
export function startRun(
  paths: ShiftPaths,
  prepare: () => Promise<RunSettings | RunResult>,
  world: World,
  signal?: AbortSignal,
): Run {
  const queue = new EventQueue<NightshiftEvent>();
  const drain = new AbortController();
  const now = new AbortController();
  const stop = {
    drain: AbortSignal.any([drain.signal, now.signal, ...(signal ? [signal] : [])]),
    now: AbortSignal.any([now.signal, ...(signal ? [signal] : [])]),
    [Symbol.dispose]: () => {},
  };
  const begin = async (): Promise<RunResult> => {
    const settings = await prepare();
    if ('exitCode' in settings) return settings;
    const onEvent = (event: NightshiftEvent) => queue.push(event);
    const { alreadyComplete: _, ...result } = await runFolder(
      paths,
      { ...settings, onEvent, openStop: () => stop },
      world,
    );
    return result;
  };
  const result = begin();
  // Also keeps an error from being an unhandled rejection: the caller may only read events, which end with it.
  result.then(
    () => queue.close(),
    (error: unknown) => queue.close({ error }),
  );
  return {
    result,
    stop: (options = {}) => (options.now ? now : drain).abort(),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
  };
}
