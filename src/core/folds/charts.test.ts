import { describe, expect, test } from 'vitest';
import type { Happening, NightshiftEvent } from '../model/events.ts';
import { Charts } from './charts.ts';

let seq = 0;

function chartsOf(...happenings: (Happening & { run?: string })[]): Charts {
  const charts = new Charts();
  for (const { run = 'r1', ...happening } of happenings) {
    const at = new Date(1_700_000_000_000 + 1000 * ++seq).toISOString();
    charts.add({ ...happening, at, run, seq, shift: 's' } as NightshiftEvent);
  }
  return charts;
}

const counts = { in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
const started = (todo: number, run = 'r1') =>
  ({
    type: 'run:started',
    run,
    total: todo,
    tasks: ['work'],
    counts: [{ task: 'work', todo, ...counts }],
  }) as unknown as Happening;
const subject = (item: string) => ({ task: 'work', item, index: 0 });
const dev = (item: string): Happening => ({
  type: 'dev:started',
  ...subject(item),
  agent: 'a',
  key: 'k',
  version: 'v',
});
const ended = (item: string, to: 'done' | 'failed'): Happening => ({
  ...{ type: 'item:recorded', ...subject(item), from: 'in_progress', to },
});
const spent = (item: string | undefined, role: 'dev' | 'qa' | 'manager', costUsd: number): Happening => ({
  ...{ type: 'usage:spent', role, agent: 'claude', usage: { costUsd } },
  ...(item === undefined ? {} : subject(item)),
});
const devEnded = (item: string, model?: string): Happening => ({
  ...{ type: 'dev:finished', ...subject(item), status: 'SUCCESS', attempts: 1, ms: 1, key: 'k' },
  ...(model === undefined ? {} : { model }),
});

describe('charts', () => {
  test('X8 the burn-down counts what is left and what failed, in every run, as the live view does', () => {
    const charts = chartsOf(
      ...[started(3), dev('a'), ended('a', 'done'), dev('b'), ended('b', 'failed')],
      { type: 'run:finished', exitCode: 4, reason: 'stopped', ms: 1 },
      ...[started(2, 'r2'), { ...dev('b'), run: 'r2' }, { ...ended('b', 'done'), run: 'r2' }],
    );
    const points = charts.burnDown.points.map(({ left, failed }) => [left, failed]);
    expect(points).toEqual([
      [3, 0],
      [2, 0],
      [1, 1],
      [1, 1],
      [2, 0],
      [1, 0],
    ]);
    expect(charts.runs).toMatchObject([{ run: 'r1', endedAt: expect.any(String) }, { run: 'r2' }]);
    expect(charts.runs[1]).not.toHaveProperty('endedAt');
  });

  test('X8 each change of the concurrency has its reason, and is told once', () => {
    const changed = (from: number, to: number, reason: string): Happening => ({
      ...{ type: 'concurrency:changed', task: 'work', from, to, reason },
    });
    const charts = chartsOf(
      { type: 'batch:claimed', task: 'work', indices: [0], size: 2 },
      ...[changed(2, 4, 'all done'), changed(4, 4, 'still'), changed(4, 2, 'a failure')],
      changed(2, 'many' as unknown as number, 'damaged'),
      // The next task continues with it.
      { type: 'batch:claimed', task: 'check', indices: [0], size: 2 },
    );
    expect(charts.concurrency.map(({ size, reason }) => [size, reason])).toEqual([
      [2, ''],
      [4, 'all done'],
      [2, 'a failure'],
    ]);
  });

  test('X8 spending is told by role, agent and model, and its sum is what was spent', () => {
    const charts = chartsOf(
      started(3),
      ...[spent('a', 'dev', 1), spent('a', 'dev', 2), devEnded('a', 'opus'), spent('a', 'qa', 4)],
      ...[spent('b', 'dev', 8), devEnded('b'), spent(undefined, 'manager', 16), spent('c', 'dev', 32)],
    );
    const told = charts.spend.map(({ role, model, usage }) => [role, model, usage.costUsd]);
    expect(new Set(told.map((each) => JSON.stringify(each)))).toEqual(
      new Set(
        [
          ['dev', 'opus', 3],
          ['dev', undefined, 40],
          ['qa', undefined, 4],
          ['manager', undefined, 16],
        ].map((each) => JSON.stringify(each)),
      ),
    );
    // The next run does not know what became of those that were killed.
    charts.add({ ...started(1, 'r2'), at: '2026-01-01T00:00:00Z', run: 'r2', seq: 1, shift: 's' } as NightshiftEvent);
    charts.add({
      ...devEnded('c', 'opus'),
      at: '2026-01-01T00:00:00Z',
      run: 'r2',
      seq: 2,
      shift: 's',
    } as NightshiftEvent);
    expect(charts.spend.reduce((sum, { usage }) => sum + usage.costUsd!, 0)).toBe(63);
  });

  test('S13 a long journal, and one with anything in it, make no long charts', () => {
    const charts = chartsOf(started(4000));
    for (let i = 0; i < 4000; i++) {
      const common = { at: new Date(1_700_000_000_000 + i).toISOString(), run: 'r1', seq: i, shift: 's' };
      for (const each of [
        dev(`i${i}`),
        ended(`i${i}`, 'done'),
        { type: 'concurrency:changed', task: 'work', from: i, to: i + 1, reason: 'more' },
        { ...spent(`i${i}`, 'dev', 1), agent: `agent ${i}` },
        devEnded(`i${i}`, `model ${i}`),
      ]) {
        charts.add({ ...each, ...common } as NightshiftEvent);
      }
    }
    expect(charts.burnDown.points.length).toBeLessThanOrEqual(1000);
    expect(charts.burnDown.points[0]).toMatchObject({ left: 4000 });
    expect(charts.burnDown.points.at(-1)).toMatchObject({ left: 0 });
    expect(charts.concurrency.length).toBeLessThanOrEqual(500);
    expect(charts.spend.length).toBeLessThanOrEqual(51);
    expect(charts.spend.reduce((sum, { usage }) => sum + usage.costUsd!, 0)).toBe(4000);
    const odd = { type: 'run:started', at: 'never', run: 'r9', seq: 1, shift: 's' } as unknown as NightshiftEvent;
    expect(() => charts.add(odd)).not.toThrow();
  });
});
