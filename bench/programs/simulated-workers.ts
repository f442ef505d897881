import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, Outcome } from '../../src/core/model/model.ts';
import type { Call } from '../../src/engine/worker/worker-ports.ts';
import { FleetDatabase } from '../../src/fleet/database.ts';
import { keyOffer } from '../../src/fleet/needs.ts';
import type { SentOrder, WorkOutcome } from '../../src/fleet/protocol.ts';
import { verifierFrom } from '../../src/fleet/signature.ts';
import { Offers } from '../../src/fleet/worker/offers.ts';
import { WorkerLoop } from '../../src/fleet/worker/worker-loop.ts';
import { lognormal, randomFrom } from '../../test/kit/random.ts';

/**
 * Many workers in one process, each with its own connections. Their code is the real one; their agents only wait and
 * write transcripts. Arguments: the address, the key, and how many workers, slots, and bytes of transcript a second.
 */
const [url, key, workers, slots, bytesPerSecond] = process.argv.slice(2) as [string, string, string, string, string];
const MEDIAN_MS = 30_000;
const EVERY_MS = 500;
const random = randomFrom(7);
const perOrder = Number(bytesPerSecond) / (Number(workers) * Number(slots));

async function perform({ work }: SentOrder, call: Call): Promise<WorkOutcome> {
  if (work.kind === 'lesson') return { role: 'manager', reason: 'simulated' };
  const { order } = work;
  const { role, item, key: itemKey, task, version } = order;
  const about = { task, index: item.index, item: item.id };
  const started = performance.now();
  call.emit({ type: 'dev:started', ...about, agent: 'shell', key: itemKey, version });
  const text = 'x'.repeat(Math.round((perOrder * EVERY_MS) / 1000));
  for (const end = started + lognormal(random, MEDIAN_MS, 0.4); performance.now() < end && !call.signal.aborted; ) {
    await sleep(EVERY_MS);
    call.emit({ type: 'transcript', ...about, role, key: itemKey, attempt: 1, entry: { kind: 'text', text } });
  }
  const ms = performance.now() - started;
  call.emit({ type: 'usage:spent', ...about, role, agent: 'shell', usage: { costUsd: 0.01 } });
  call.emit({
    type: 'dev:finished',
    ...about,
    status: 'SUCCESS',
    attempts: 1,
    ms,
    key: itemKey,
    usage: {},
    recommendations: [],
  });
  return passed(order, ms);
}

function passed({ role, item, token, template }: Order, ms: number): Outcome {
  const nothing = { outputs: {}, captured: {}, recommendations: [], usage: {}, compacted: false };
  const verdicts = template.criteria.map(() => ({ criterion: 'It is done', status: 'PASS' as const, checked: true }));
  return {
    role,
    id: item.id,
    token,
    to: role === 'dev' ? 'qa' : 'done',
    attempts: 1,
    ms,
    verdicts,
    ...nothing,
  } as Outcome;
}

const loops = Array.from({ length: Number(workers) }, (_, i) => {
  const offers = new Offers({
    fixed: [keyOffer(key), 'role:dev', 'role:qa', 'role:manager', 'workspace:none'],
    places: () => [],
    agents: async () => new Map([['shell', undefined]]),
    everyMs: 60_000,
    now: () => performance.now(),
  });
  return new WorkerLoop({
    ...{ database: new FleetDatabase({ url, isInsecure: false }), id: randomUUID(), name: `w${i + 1}`, version: '0' },
    ...{ slots: Number(slots), offers, verify: verifierFrom(key)!, perform, tell: () => {} },
  });
});
process.on('SIGTERM', () => {
  for (const loop of loops) loop.stop();
});
await Promise.all(loops.map((loop) => loop.run()));
