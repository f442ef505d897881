import { expect, test } from 'vitest';
import type { Trouble } from '../../core/model/model.ts';
import type { Work, WorkOutcome } from '../protocol.ts';
import { Offers } from './offers.ts';

async function worker() {
  let now = 0;
  const offers = new Offers({
    ...{ fixed: ['role:dev'], places: () => ['workspace:git', 'workspace:none'], everyMs: 60_000, now: () => now },
    agents: async () => new Map([['claude', undefined]]),
  });
  await offers.refresh();
  const work = { order: { settings: { agent: 'claude' } } } as unknown as Work;
  const end = (trouble?: Trouble) =>
    offers.noteOutcome(work, { role: 'dev', ...(trouble && { trouble }) } as WorkOutcome);
  const pass = async (seconds: number) => {
    now += seconds * 1000;
    await offers.refresh();
  };
  return { offers, end, pass };
}

const ALL = ['agent:claude', 'role:dev', 'workspace:git', 'workspace:none'];
const WITHOUT_GIT = ALL.filter((name) => name !== 'workspace:git');
const OFFLINE: Trouble = { reason: 'the relay does not answer', isWorker: true, offer: 'workspace:git' };

test('a place that fails for a while is withdrawn with its reason, longer each time, and nothing else rests', async () => {
  const { offers, end, pass } = await worker();
  // Two orders that were taken together: one trouble.
  for (const each of [OFFLINE, OFFLINE]) end(each);
  expect([offers.list, offers.isResting]).toEqual([WITHOUT_GIT, false]);
  expect(offers.problems).toEqual([{ offer: 'workspace:git', why: 'the relay does not answer' }]);
  await pass(1);
  expect([offers.list, offers.problems]).toEqual([ALL, []]);
  end(OFFLINE);
  await pass(1);
  expect(offers.list).toEqual(WITHOUT_GIT);
  await pass(1);
  expect(offers.list).toEqual(ALL);
  end();
  end(OFFLINE);
  await pass(1);
  expect(offers.list).toEqual(ALL);
});

test('what a person has to fix is withdrawn for minutes; other trouble lets the whole worker rest', async () => {
  const { offers, end, pass } = await worker();
  end({ reason: 'not logged in', remedy: 'run `claude login`' });
  expect(offers.list).toEqual(ALL.filter((name) => name !== 'agent:claude'));
  expect(offers.problems).toEqual([{ offer: 'agent:claude', why: 'not logged in: run `claude login`' }]);
  await pass(299);
  expect(offers.problems).toHaveLength(1);
  await pass(1);
  expect([offers.list, offers.problems]).toEqual([ALL, []]);
  end({ reason: 'overloaded' });
  expect([offers.list, offers.isResting]).toEqual([ALL, true]);
  await pass(1);
  expect(offers.isResting).toBe(false);
});
