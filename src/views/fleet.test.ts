import { expect, test } from 'vitest';
import type { FleetItem, FleetWorker } from '../core/model/fleet-status.ts';
import { fleetStatusLines } from './fleet.ts';

const item = (shift: string, row: number): FleetItem => ({ shift, task: 'work', row, role: 'dev' });

function worker(name: string, more: Partial<FleetWorker> = {}): FleetWorker {
  const items = more.items ?? [];
  return {
    ...{
      name,
      slots: 8,
      running: items.length,
      seenSecondsAgo: 2,
      isSilent: false,
      mode: 'run',
      version: '1.4.0',
      items,
    },
    ...{ offers: ['agent:claude', 'secret:API_KEY'], problems: [] },
    ...more,
  };
}

test('the status of a fleet has a line for each worker, what keeps it from orders below it, and totals', () => {
  const night = {
    name: 'night',
    mode: 'run',
    isPaused: false,
    wanted: 40,
    orders: { waiting: 3, running: 10, ended: 1 },
  } as const;
  const lines = fleetStatusLines({
    shifts: [
      { ...night, coordinator: { host: 'db-1', pid: 4120, seenSecondsAgo: 1 } },
      { ...night, name: 'texts', coordinator: undefined, wanted: 0, orders: { waiting: 0, running: 1, ended: 4 } },
    ],
    workers: [
      worker('build-10', { version: '1.3.9', problems: ['protocol 2, this database has 1: upgrade it'] }),
      worker('build-2', { items: [7, 3, 12, 15, 40, 41, 44, 52].map((row) => item('night', row)) }),
      worker('build-3', {
        mode: 'drain',
        items: [{ ...item('texts', 4), label: 'hedgehog', role: 'qa' }],
        offers: ['agent:claude', 'gpu'],
        problems: ['agent:claude: not logged in: run `claude login`', 'lacks secret:API_KEY for shift night'],
      }),
      worker('build-4', { seenSecondsAgo: 75.4, isSilent: true, items: [item('night', 9), item('night', 8)] }),
    ],
  });
  expect(lines).toEqual([
    'night: 10 orders running, 3 waiting, 40 slots wanted (coordinator: process 4120 on db-1, seen 1s ago)',
    'texts: no coordinator; 4 results to record, 1 order running, 0 waiting, 0 slots wanted; `nightshift start texts --fleet URL` resumes it',
    '',
    'build-2   8/8  seen 2s ago                    1.4.0  night rows 3, 7, 12, 15 and 4 more',
    'build-3   1/8  seen 2s ago          draining  1.4.0  texts row 4 hedgehog: work, qa',
    '    ! agent:claude: not logged in: run `claude login`',
    '    ! lacks secret:API_KEY for shift night',
    'build-4   2/8  not seen for 1m 15s            1.4.0  night rows 8, 9',
    'build-10  0/8  seen 2s ago                    1.3.9  idle',
    '    ! protocol 2, this database has 1: upgrade it',
    '',
    'agent:claude    4 workers',
    'gpu             build-3',
    'secret:API_KEY  build-2, build-4, build-10',
    '4 workers, 2 with problems, 1 draining, 1 not seen; 11 of 32 slots used; 3 orders waiting; 2 versions',
  ]);
});

test('a paused shift, and workers that answer a manager', () => {
  const lessons = { shift: 'night', task: 'work', role: 'manager' } as const;
  const orders = { waiting: 0, running: 3, ended: 0 };
  const lines = fleetStatusLines({
    shifts: [{ name: 'night', mode: 'run', isPaused: true, wanted: 3, orders, coordinator: undefined }],
    workers: [worker('one', { items: [lessons] }), worker('two', { items: [lessons, item('night', 3)] })],
  });
  expect(lines.slice(2, 4)).toEqual([
    'one  1/8  seen 2s ago  night: work, manager',
    'two  2/8  seen 2s ago  night row 3, lessons of work',
  ]);
  const coordinator = { host: 'db-1', pid: 1, seenSecondsAgo: 1 };
  expect(
    fleetStatusLines({
      shifts: [{ name: 'night', mode: 'run', isPaused: true, wanted: 3, orders, coordinator }],
      workers: [],
    })[0],
  ).toBe('night: paused; 3 orders running, 0 waiting, 3 slots wanted (coordinator: process 1 on db-1, seen 1s ago)');
});

test('40 workers that are well take 40 lines, without columns that say nothing', () => {
  const workers = Array.from({ length: 40 }, (_, i) => worker(`pod-${i}`, i < 38 ? {} : { offers: ['agent:claude'] }));
  const lines = fleetStatusLines({ shifts: [], workers });
  expect(lines).toHaveLength(46);
  expect([lines[0], lines[2], lines[41]]).toEqual([
    'no shift runs on this fleet',
    'pod-0   0/8  seen 2s ago  idle',
    'pod-39  0/8  seen 2s ago  idle',
  ]);
  expect(lines.slice(-3)).toEqual([
    'agent:claude    40 workers',
    'secret:API_KEY  38 of 40 workers, not pod-38, pod-39',
    '40 workers; 0 of 320 slots used; 0 orders waiting; version 1.4.0',
  ]);
  expect(fleetStatusLines({ shifts: [], workers: [] })).toEqual([
    'no shift runs on this fleet',
    'no workers; `nightshift worker --url URL --key KEY` starts one',
  ]);
});
