import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import { FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import { register } from './register.ts';

describeServer('the heartbeat of a worker', (server) => {
  test('may have a problem whose text PostgreSQL can’t store', async () => {
    await using database = new FleetDatabase({ url: server.url, isInsecure: false });
    await database.install();
    const problems = [{ offer: 'agent:codex', why: 'did not start: \0 \ud83d' }];
    const worker = { id: randomUUID(), name: 'w', slots: 1, version: '1', offers: [], problems, orders: [] };
    expect(await register(database, { ...worker, mode: 'run', leaseSeconds: 10 })).toBe('run');
    const { rows } = await database.query(`select problems from ${SCHEMA}.worker`);
    expect(rows).toEqual([{ problems: [{ offer: 'agent:codex', why: 'did not start: \ufffd \ufffd' }] }]);
  });
});
