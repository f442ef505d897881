import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { History } from '../core/folds/history.ts';
import type { NightshiftEvent } from '../core/model/events.ts';
import { RunContext } from './context.ts';
import { RunControl } from './control.ts';
import type { RunPorts } from './ports.ts';

const NOW = Date.UTC(2026, 0, 30, 22);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** For how long the machine has slept, or the process was stopped. */
let slept = 0;

function sleep(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

/** A run whose agent has a model, with these limits. */
function runWith(limits: object, isPatienceSet = false): RunContext & { tell: (event: NightshiftEvent) => void } {
  const history = new History();
  let listener = (_: NightshiftEvent) => {};
  const ports = {
    clock: { now: Date.now, elapsed: () => Date.now() - slept, sleep },
    events: {
      history,
      listen: (each: typeof listener) => {
        listener = each;
      },
      emit: () => {},
    },
    control: new RunControl(),
    findAgent: () => ({ hasModel: true }),
  } as unknown as RunPorts;
  const settings = { limits, patienceMs: 1000, isPatienceSet };
  const tasks = [{ name: 'work', settings: { agent: 'claude' } }];
  const context = new RunContext(ports, { name: 'night', settings, tasks } as never, '');
  return Object.assign(context, {
    tell: (event: NightshiftEvent) => {
      history.add(event);
      listener(event);
    },
  });
}

beforeEach(() => {
  slept = 0;
  vi.useFakeTimers({ now: NOW });
  onTestFinished(() => void vi.useRealTimers());
});

test('X6 a usage limit that ends after `until` or max-duration ends the run at once, one that ends before is waited for', () => {
  const trouble = (hours: number) => ({ reason: 'usage limit', until: NOW + hours * HOUR });
  for (const limits of [{ until: new Date(NOW + 3 * HOUR).toISOString() }, { 'max-duration': 3 * HOUR }]) {
    using run = runWith(limits);
    expect(run.endure(trouble(2))).toBe(2 * HOUR);
    expect(run.endure(trouble(4))).toMatchObject({
      exitCode: 4,
      reason: expect.stringMatching(/^usage limit: it ends at .*, and by then (until|max-duration) /),
      notBefore: new Date(NOW + 4 * HOUR).toISOString(),
    });
  }
});

test('X5 X6 a run with `until` or max-duration waits out trouble that long, unless patience is set; no login ends it at once', () => {
  const network = { reason: 'network is down' };
  const login = { reason: 'not logged in', remedy: 'log in' };
  for (const limits of [{ until: new Date(NOW + 3 * HOUR).toISOString() }, { 'max-duration': 3 * HOUR }]) {
    vi.setSystemTime(NOW);
    using patient = runWith(limits);
    using bounded = runWith(limits, true);
    for (const run of [patient, bounded]) expect(run.endure(network)).toBe(1000);
    vi.setSystemTime(NOW + 2 * HOUR);
    expect(patient.endure(network)).toBe(2000);
    expect(bounded.endure(network)).toMatchObject({ exitCode: 4 });
    expect(patient.endure(login)).toMatchObject({ exitCode: 6 });
  }
  vi.setSystemTime(NOW);
  using endless = runWith({ 'max-cost': 5 });
  expect(endless.endure(network)).toBe(1000);
  vi.setSystemTime(NOW + HOUR);
  expect(endless.endure(network)).toMatchObject({ exitCode: 4 });
});

test('X6 an agent with a model has a limit of failures in a row without being asked', () => {
  using run = runWith({});
  expect([run.budget.hasModel, run.budget.inForce]).toEqual([true, { 'max-same-failures': 3 }]);
});

test('X6 the run drains when time is over, whatever it waits for then', async () => {
  for (const limits of [{ until: new Date(NOW + 3 * MINUTE).toISOString() }, { 'max-duration': 3 * MINUTE }]) {
    vi.setSystemTime(NOW);
    using run = runWith(limits);
    run.budget.check();
    const { drain } = run.control;
    await vi.advanceTimersByTimeAsync(3 * MINUTE - 1);
    expect(drain.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([drain.aborted, run.budget.reason]).toEqual([true, expect.stringMatching(/^(until|max-duration) /)]);
  }
});

test('X6 time during which the machine slept counts for `until`, and not for max-duration', async () => {
  for (const [limits, minutes] of [
    [{ until: new Date(NOW + 3 * MINUTE).toISOString() }, 3],
    [{ 'max-duration': 3 * MINUTE }, 5],
  ] as const) {
    vi.setSystemTime(NOW);
    slept = 0;
    using run = runWith(limits);
    run.budget.check();
    await vi.advanceTimersByTimeAsync(MINUTE);
    slept = 2 * MINUTE;
    vi.setSystemTime(NOW + 3 * MINUTE - 1);
    const { drain } = run.control;
    expect(drain.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(drain.aborted).toBe(minutes === 3);
    await vi.advanceTimersByTimeAsync((minutes - 3) * MINUTE);
    expect(drain.aborted).toBe(true);
  }
});

test('X6 a clock that is set back by minutes makes max-duration no longer', async () => {
  using run = runWith({ 'max-duration': 3 * MINUTE });
  run.budget.check();
  await vi.advanceTimersByTimeAsync(2 * MINUTE);
  slept = -2 * MINUTE;
  vi.setSystemTime(NOW);
  await vi.advanceTimersByTimeAsync(MINUTE + 1000);
  expect([run.control.drain.aborted, run.budget.reason]).toEqual([
    true,
    expect.stringMatching(/^max-duration .* of 3m$/),
  ]);
});

test('X6 the run drains as soon as a session has spent too much, also before its item has ended', () => {
  using run = runWith({ 'max-cost': 1 });
  const spend = (costUsd: number) => run.tell({ type: 'usage:spent', usage: { costUsd } } as NightshiftEvent);
  spend(0.6);
  expect(run.control.drain.aborted).toBe(false);
  spend(0.6);
  expect([run.control.drain.aborted, run.budget.reason]).toEqual([true, expect.stringContaining('$1.20 of $1.00')]);
});

test('X6 when cost is used up no agent is asked anything more, also in a run that drains already', () => {
  using run = runWith({ 'max-cost': 1 });
  run.control.startDraining({ signal: 'SIGINT' });
  expect(run.budget.spentUp.aborted).toBe(false);
  run.tell({ type: 'usage:spent', usage: { costUsd: 1.2 } } as NightshiftEvent);
  expect(run.budget.spentUp).toMatchObject({ aborted: true, reason: expect.stringContaining('$1.20 of $1.00') });
});
