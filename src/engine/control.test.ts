import { expect, test } from 'vitest';
import { type ControlChange, RunControl } from './control.ts';

const by = { signal: 'control' };
const since = '2026-01-30T22:00:00.000Z';

function control(): { control: RunControl; told: string[] } {
  const made = new RunControl();
  const told: string[] = [];
  made.follow(({ type, signal }: ControlChange) => told.push(`${type} ${signal}`));
  return { control: made, told };
}

test('X8 to drain and to stop are final, and are told once', () => {
  const { control: run, told } = control();
  expect(run.isHalted).toBe(false);
  run.startDraining({ signal: 'SIGINT' });
  run.startDraining(by);
  expect([run.drain.aborted, run.now.aborted, run.interrupt.aborted, run.isHalted]).toEqual([true, false, false, true]);
  run.stopNow(by);
  run.stopNow({ signal: 'SIGINT' });
  run.resume(by);
  expect([run.now.aborted, run.interrupt.aborted]).toEqual([true, true]);
  expect(told).toEqual(['run:draining SIGINT', 'run:stopping control']);
});

test('X8 a stop at once is told before it ends items, and to a listener that comes later', () => {
  const run = new RunControl();
  const seen: boolean[] = [];
  run.follow(() => seen.push(run.interrupt.aborted));
  run.stopNow(by);
  expect([seen, run.drain.aborted]).toEqual([[false], true]);
  const late: string[] = [];
  run.follow(({ type }) => late.push(type));
  expect(late).toEqual(['run:stopping']);
});

test('X8 a run that leaves its items ends none of them, and is known to leave before it drains', () => {
  const { control: run, told } = control();
  const seen: boolean[] = [];
  run.drain.addEventListener('abort', () => seen.push(run.left.aborted));
  run.leave(by);
  run.leave(by);
  run.startDraining(by);
  expect([run.interrupt.aborted, run.now.aborted, run.isHalted, run.isEnding]).toEqual([false, false, true, true]);
  expect([seen, told]).toEqual([[true], ['run:draining control']]);
});

test('X8 a pause at once ends what runs now, and not what runs after the resume', async () => {
  const { control: run, told } = control();
  run.startPause({ since, now: false }, by);
  const before = run.interrupt;
  expect([run.isHalted, before.aborted]).toEqual([true, false]);
  run.startPause({ since, now: true }, by);
  run.startPause({ since, now: false }, by);
  expect([before.aborted, run.pause]).toEqual([true, { since, now: true }]);
  let isResumed = false;
  const waiting = run.resumed().then(() => {
    isResumed = true;
  });
  await Promise.resolve();
  expect(isResumed).toBe(false);
  run.resume(by);
  await waiting;
  expect([run.isHalted, before.aborted, run.interrupt.aborted]).toEqual([false, true, false]);
  run.resume(by);
  expect(told).toEqual(['run:paused control', 'run:paused control', 'run:resumed control']);
});

test('X8 items that ran on through a pause are ended by a stop at once', () => {
  const { control: run } = control();
  const { interrupt } = run;
  run.startPause({ since, now: false }, by);
  run.resume(by);
  run.stopNow(by);
  expect(interrupt.aborted).toBe(true);
});

test('X8 a drain ends the wait of a paused run', async () => {
  const { control: run } = control();
  run.startPause({ since, now: false }, by);
  const waiting = run.resumed();
  run.startDraining(by);
  await waiting;
  expect([run.pause, run.drain.aborted]).toEqual([{ since, now: false }, true]);
});
