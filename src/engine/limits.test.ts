import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { NightshiftEvent } from '../core/events.ts';
import { History } from '../core/history.ts';
import { Course } from './course.ts';
import type { RunParts } from './run-state.ts';

const NOW = Date.UTC(2026, 0, 30, 22);
const HOUR = 3_600_000;

/** A run whose agent has a model, with these limits. */
function course(limits: object): Course & { tell: (event: NightshiftEvent) => void } {
  const history = new History();
  let told = (_: NightshiftEvent) => {};
  const never = new AbortController().signal;
  const parts = {
    now: Date.now,
    history,
    listen: (listener: typeof told) => {
      told = listener;
    },
    stop: { drain: never, now: never },
    emit: () => {},
    inFlight: () => 0,
    agents: () => ({ find: () => ({ hasModel: true }) }),
  } as unknown as RunParts;
  const settings = { limits, patienceMs: 1000 };
  const tasks = [{ name: 'work', settings: { agent: 'claude' } }];
  const made = new Course(parts, { name: 'night', settings, tasks } as never, '');
  return Object.assign(made, {
    tell: (event: NightshiftEvent) => {
      history.add(event);
      told(event);
    },
  });
}

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  onTestFinished(() => void vi.useRealTimers());
});

test('X6 a usage limit that ends after `until` or max-duration ends the run at once, one that ends before is waited for', () => {
  const trouble = (hours: number) => ({ reason: 'usage limit', until: NOW + hours * HOUR });
  for (const limits of [{ until: new Date(NOW + 3 * HOUR).toISOString() }, { 'max-duration': 3 * HOUR }]) {
    using run = course(limits);
    expect(run.endure(trouble(2))).toBe(2 * HOUR);
    expect(run.endure(trouble(4))).toMatchObject({
      exitCode: 4,
      reason: expect.stringMatching(
        /^usage limit: it ends at .*, and by then (until|max-duration) .*`nightshift start/,
      ),
    });
  }
});

test('X6 an agent with a model has a limit of failures in a row without being asked', () => {
  using run = course({});
  expect([run.limits.hasModel, run.limits.inForce]).toEqual([true, { 'max-same-failures': 3 }]);
});

test('X6 the run drains when time is over, whatever it waits for then', async () => {
  for (const limits of [{ until: new Date(NOW + 3 * HOUR).toISOString() }, { 'max-duration': 3 * HOUR }]) {
    vi.setSystemTime(NOW);
    using run = course(limits);
    run.limits.check();
    const { drain } = run.parts.stop;
    await vi.advanceTimersByTimeAsync(3 * HOUR - 1);
    expect(drain.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([drain.aborted, run.limits.reason]).toEqual([true, expect.stringMatching(/^(until|max-duration) /)]);
  }
});

test('X6 the run drains as soon as a session has spent too much, also before its item has ended', () => {
  using run = course({ 'max-cost': 1 });
  const spend = (costUsd: number) => run.tell({ type: 'usage:spent', usage: { costUsd } } as NightshiftEvent);
  spend(0.6);
  expect(run.parts.stop.drain.aborted).toBe(false);
  spend(0.6);
  expect([run.parts.stop.drain.aborted, run.limits.reason]).toEqual([true, expect.stringContaining('$1.20 of $1.00')]);
});
