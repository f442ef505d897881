import { expect, test } from 'vitest';
import type { ItemTask } from '../app/read-item.ts';
import type { ReportRow } from '../app/report/report.ts';
import { History } from '../core/folds/history.ts';
import type { ShiftStatus } from '../core/folds/shift-status.ts';
import { countAtWorkers, type Items } from '../core/folds/summary.ts';
import type { Happening, NightshiftEvent } from '../core/model/events.ts';
import { STATUSES, type Status } from '../core/model/status.ts';
import { itemLines } from './item.ts';
import { itemTable } from './report/item-table.ts';
import { runLines } from './status.ts';
import { TranscriptLines } from './transcript-lines.ts';

const NOW = new Date(2026, 0, 2, 22, 30).getTime();
const at = new Date(NOW).toISOString();

test('X8 `status` counts what each worker has now; an item that was given back in a crash is on none', () => {
  const statuses: readonly Status[] = ['in_progress', 'in_progress', 'qa', 'todo', 'done', 'in_progress'];
  const items: Items = {
    ...{
      count: statuses.length,
      tasks: ['nap'],
      columns: [Uint8Array.from(statuses, (status) => STATUSES.indexOf(status))],
    },
    ...{ id: (row) => `i${row}`, metadata: () => ({}) },
  };
  const history = new History();
  const workers = ['b-2', 'b-1', 'b-2', 'b-9', 'b-9', undefined];
  for (const [index, worker] of workers.entries()) {
    const type = statuses[index] === 'qa' ? 'qa:started' : 'dev:started';
    const started = { type, task: 'nap', item: `i${index}`, index, agent: 'a', key: 'k', version: 'v' };
    const event = { ...(started as Happening), ...(worker === undefined ? {} : { worker }) };
    history.add({ ...event, at, run: 'r', seq: index + 1, shift: 's' } as NightshiftEvent);
  }
  expect(countAtWorkers(items, history)).toEqual([
    { worker: 'b-2', items: 2 },
    { worker: 'b-1', items: 1 },
  ]);
});

test('X8 `status` has one line for the workers of a run, however many there are, and none without a fleet', () => {
  const status = {
    ...{ shift: 'night', running: { pid: 7, since: at, run: 'r' }, usage: {}, putBack: [], tasks: [] },
    workspaces: { held: 0, kept: 0 },
  } as unknown as ShiftStatus;
  const lines = (workers?: ShiftStatus['workers']) =>
    runLines({ ...status, ...(workers && { workers }) }, { limits: [], now: NOW });
  const fleet = Array.from({ length: 9 }, (_, i) => ({ worker: `b-${i}`, items: 9 - i }));
  expect(lines()).toEqual(['running: process 7 since 22:30']);
  expect(lines(fleet.slice(0, 2))).toEqual(['running: process 7 since 22:30', '  9 items on b-0, 8 on b-1']);
  expect(lines(fleet)[1]).toBe('  9 items on b-0, 8 on b-1, 7 on b-2, 6 on b-3, 5 on b-4, 4 on b-5 and 3 more workers');
});

test('X8 `show`, `logs --row` and the report say on which worker it is or was', () => {
  const task: ItemTask = {
    ...{ task: 'nap', status: 'in_progress', worker: 'b-3', key: 'k', transcripts: [] },
    attempts: [{ number: 1, status: 'FAILED', reason: 'no pillow', at, worker: 'b-1' }],
    dev: { status: 'SUCCESS', attempts: 2, ms: 60_000, at, worker: 'b-2', model: 'p/m' },
    qa: { status: 'PASS', verdicts: [], at, worker: 'b-3' },
  };
  const row = { shift: 'night', row: 4, index: 3, item: 'i', metadata: {}, label: 'owl' };
  expect(itemLines('/', { ...row, tasks: [task] }, NOW)).toEqual([
    'night, row 4 owl',
    'nap: in_progress on b-3',
    '  attempt 1 on b-1: no pillow',
    '  dev on b-2: SUCCESS in 1m, 22:30, model p/m',
    '  qa on b-3: PASS, 22:30',
  ]);
  const view = new TranscriptLines({ withPrompts: false, now: () => NOW });
  const said = { kind: 'output', text: 'zzz\n', at, role: 'dev', attempt: 1, worker: 'b-1' } as const;
  expect(view.of({ ...row, task: 'nap' }, said)[0]).toBe('--- row 4 owl on b-1: nap, dev attempt 1, output (22:30)');
  const result = { row: 4, item: 'i', metadata: {}, task: 'nap', captured: {}, usage: {}, worker: '<b>-1' };
  const cells = (status: Status, attempts: number): string => {
    const rows: ReportRow[] = [
      { row: 4, label: undefined, cells: [], results: [{ ...result, status, attempts }], output: '' },
    ];
    return itemTable({ columns: [], tasks: ['nap'], count: 1, rows: () => rows }, 100_000).html.text;
  };
  expect(cells('done', 2)).toContain('>done (2 attempts) on &lt;b&gt;-1<');
  expect(cells('todo', 1)).toContain('>todo<');
});
