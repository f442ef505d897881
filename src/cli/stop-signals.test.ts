import { EventEmitter } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { StopSignals } from './stop-signals.ts';

/** Signals as Node hands them over: the name is also the argument. */
function stopSignals() {
  const source = new EventEmitter();
  const said: string[] = [];
  const stop = new StopSignals(source, 60_000);
  stop.drain.addEventListener('abort', () => said.push(stop.drain.reason.by));
  stop.now.addEventListener('abort', () => said.push(`${stop.now.reason.by} now`));
  return { stop, said, source, send: (signal: string) => source.emit(signal, signal) };
}

describe('StopSignals', () => {
  test('Ctrl-C once drains for as long as it takes, twice stops at once', () => {
    vi.useFakeTimers();
    const { stop, said, send } = stopSignals();
    send('SIGINT');
    vi.advanceTimersByTime(24 * 3_600_000);
    expect([stop.drain.aborted, stop.now.aborted]).toEqual([true, false]);
    send('SIGINT');
    send('SIGINT');
    expect(stop.now.aborted).toBe(true);
    expect(said).toEqual(['SIGINT', 'SIGINT now']);
    vi.useRealTimers();
  });

  test.each(['SIGTERM', 'SIGHUP'])('%s drains for at most a minute, however often it comes', (signal) => {
    vi.useFakeTimers();
    const { stop, said, send } = stopSignals();
    send(signal);
    vi.advanceTimersByTime(30_000);
    send(signal);
    vi.advanceTimersByTime(29_999);
    expect([stop.drain.aborted, stop.now.aborted]).toEqual([true, false]);
    vi.advanceTimersByTime(1);
    expect(stop.now.aborted).toBe(true);
    expect(said).toEqual([signal, `${signal} now`]);
    vi.useRealTimers();
  });

  test('a SIGTERM behind a Ctrl-C sets the limit, a Ctrl-C behind a SIGTERM does not wait for it', () => {
    vi.useFakeTimers();
    const patient = stopSignals();
    patient.send('SIGINT');
    patient.send('SIGTERM');
    vi.advanceTimersByTime(60_000);
    expect(patient.stop.now.aborted).toBe(true);
    const hasty = stopSignals();
    hasty.send('SIGTERM');
    hasty.send('SIGINT');
    expect(hasty.stop.now.aborted).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(hasty.said).toEqual(['SIGTERM', 'SIGINT now']);
    vi.useRealTimers();
  });

  test('when the run is over, signals do what they always do', () => {
    const { stop, source } = stopSignals();
    stop[Symbol.dispose]();
    expect(source.eventNames()).toEqual([]);
  });
});
