import { expect, test } from 'vitest';
import type { Emit } from '../../core/model/events.ts';
import type { Task } from '../../core/model/shift.ts';
import { PROTOCOL } from '../protocol.ts';
import { Admission } from './admission.ts';
import type { FleetOptions } from './fleet-options.ts';
import { Roster } from './roster.ts';

const OFFERS = ['agent:shell', 'key:ours', 'role:dev', 'workspace:none'];

function open() {
  const told: string[] = [];
  const emit: Emit = (event) => {
    if (event.type === 'fleet:waiting') told.push(event.reason);
    if (event.type === 'fleet:ready') told.push(`${event.slots} slots`);
  };
  const roster = new Roster({ emit, leaseSeconds: 90, key: 'ours', isOwn: () => true });
  const options = { place: () => 'none', secrets: () => ({}), signer: { publicKey: 'ours' }, emit };
  const admission = new Admission(options as unknown as FleetOptions, roster);
  const join = (...workers: string[][]) => {
    const rows = workers.map((offers, id) => ({
      ...{ id: String(id), name: 'w', slots: 4, offers, protocol: PROTOCOL, mode: 'run', orders: [], isSilent: false },
    }));
    return roster.read({ query: async () => ({ rows: rows as never[] }) });
  };
  return { told, admission, join };
}

const task = (...workerLabels: string[]) =>
  ({ settings: { agent: 'shell', sandbox: 'off', timeoutMs: 1000, workerLabels } }) as unknown as Task;

const devsOf = (...tasks: Task[]) => tasks.map((task) => ({ task, role: 'dev' as const }));

test('tells what is missing for the first task that no worker fits, and each change once', async () => {
  const { told, admission, join } = open();
  admission.reportOpenWork(devsOf(task(), task('gpu')), true);
  // A worker of another coordinator lacks only the key, and is not the one to wait for.
  await join(OFFERS, [...OFFERS.filter((offer) => offer !== 'key:ours'), 'label:gpu']);
  for (let i = 0; i < 2; i++) admission.reportOpenWork(devsOf(task(), task('gpu')), true);
  await join([...OFFERS, 'label:gpu']);
  admission.reportOpenWork(devsOf(task(), task('gpu')), false);
  expect(told).toEqual(['no worker is connected', 'no worker has label:gpu', '4 slots']);
});

test('tells of orders that wait while others run', async () => {
  const { told, admission, join } = open();
  await join(OFFERS);
  admission.reportOpenWork(devsOf(task()), false);
  for (let i = 0; i < 2; i++) admission.noteUnfit([['role:qa']]);
  admission.reportOpenWork(devsOf(task()), false);
  admission.noteUnfit([]);
  expect(told).toEqual(['no worker has role:qa', '4 slots']);
});
