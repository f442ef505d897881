import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { describePostgres, postgresBin, postgresFolder, startTestPostgres } from '../../test/kit/postgres.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { tryLock } from '../store/folder/files/flock.ts';
import { findPostgres } from './postgres/programs.ts';
import { startPostgres, type TemporaryOptions, type TemporaryPostgres } from './temporary-postgres.ts';

describePostgres('a temporary server', () => {
  test('serves its own runs, asks everybody else for a password, and ends with its last run', async () => {
    const { start, folder } = await place();
    const first = await start();
    await rows(first.url, 'create table kept as select 1 as number');
    const second = await start();
    expect(second).toMatchObject({ url: first.url, pid: first.pid, isReused: true });

    const stranger = Object.assign(new URL(first.url), { password: 'guess' }).href;
    await expect(rows(stranger, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    expect(statSync(join(folder, 'server.json')).mode & 0o777).toBe(0o600);

    expect(await first.stop()).toBe('in-use');
    expect(await rows(second.url, 'select number from kept')).toEqual([{ number: 1 }]);
    expect(await second.stop()).toBe('stopped');
    await expect(rows(second.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    const third = await start();
    expect(third).toMatchObject({ url: first.url, isReused: false });
    expect(await rows(third.url, 'select number from kept')).toEqual([{ number: 1 }]);

    // Without its data, it still has the address that workers know.
    expect(await third.discard()).toBe('stopped');
    expect(readdirSync(folder).sort()).toEqual(['postgres.log', 'server.json', 'users']);
    expect((await start()).url).toBe(first.url);
  });

  test('does not stay if its database could not be made, and has no secrets of its run', async () => {
    const env = { ...process.env, CANARY_KEY: 'canary' };
    const settings = { default_transaction_read_only: 'on' };
    const { start, folder, options } = await place({ env, settings });
    await expect(start()).rejects.toMatchObject({ code: '25006' });
    expect(readdirSync(join(folder, 'data'))).not.toContain('postmaster.pid');

    const server = await startPostgres({ ...options, settings: {} });
    const environment = readFileSync(`/proc/${server.pid}/environ`, 'utf8');
    await server.stop();
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('canary');
  });

  test('starts that meet share one server', async () => {
    const { start } = await place();
    const servers = await Promise.all([start(), start(), start()]);
    expect(new Set(servers.map(({ url, pid }) => `${url} ${pid}`)).size).toBe(1);
    const ends = await Promise.all(servers.map((server) => server.stop()));
    expect(ends).toContain('stopped');
  });

  test('survives Ctrl-C and the death of its run, and is taken over by the next', async () => {
    const { start, options, folder } = await place();
    const program = `
      import { startPostgres } from ${JSON.stringify(resolve('dist/fleet/temporary-postgres.js'))};
      import { tryLock } from ${JSON.stringify(resolve('dist/store/folder/files/flock.js'))};
      process.on('SIGINT', () => console.log('interrupted'));
      setInterval(() => {}, 1000);
      const { pid, url } = await startPostgres({ ...${JSON.stringify({ ...options, env: { PATH: process.env.PATH } })}, lock: tryLock });
      console.log(JSON.stringify({ pid, url }));
    `;
    const run = spawn(process.execPath, ['--input-type=module', '-e', program], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const says = run.stdout.setEncoding('utf8')[Symbol.asyncIterator]();
    const left = JSON.parse((await says.next()).value) as { pid: number; url: string };
    // As a terminal does: to the whole process group.
    process.kill(-run.pid!, 'SIGINT');
    expect((await says.next()).value).toBe('interrupted\n');
    expect(await rows(left.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    run.kill('SIGKILL');
    await once(run, 'exit');
    // As after a reboot: another process has the number of the run.
    for (const name of readdirSync(join(folder, 'users')))
      renameSync(join(folder, 'users', name), join(folder, 'users', '1-ab'));

    const next = await start();
    expect(next).toMatchObject({ ...left, isReused: true });
    expect(await next.stop()).toBe('stopped');
  });

  test('comes back on its port after a crash, also if its process number is another program now', async () => {
    await using server = await startTestPostgres();
    const { url } = server;
    await server.query('create table kept as select 1 as number');
    // A session that is busy lives on for a moment after the main process is killed.
    const busy = rows(url, 'select pg_sleep(1)').catch(() => 'cut');
    await server.crash('kill');
    await busy;
    expect(server.url).toBe(url);
    expect(await server.query('select number from kept')).toEqual([{ number: 1 }]);

    const file = join(server.folder, 'primary', 'data', 'postmaster.pid');
    const text = readFileSync(file, 'utf8');
    await server.stop();
    writeFileSync(file, text.replace(/^\d+/, String(process.pid)));
    await server.start();
    expect(await server.query('select number from kept')).toEqual([{ number: 1 }]);
    expect(await server.dump()).toContain('CREATE TABLE public.kept');
  });

  test('moves to another port if its own is taken', async () => {
    const { start } = await place();
    const first = await start();
    await first.stop();
    const squatter = createServer().listen({ host: '127.0.0.1', port: first.port });
    await once(squatter, 'listening');
    onTestFinished(() => void squatter.close());
    const second = await start();
    expect(second.port).not.toBe(first.port);
    expect((await start()).url).toBe(second.url);
  });

  test('a standby that is promoted lacks what it had not applied', async () => {
    await using server = await startTestPostgres();
    await server.query('create table kept (number int)');
    const standby = await server.standby({ delay: '2s' });
    await server.query('insert into kept values (1)');
    await expect.poll(() => rows(standby.url, 'select number from kept'), { timeout: 20_000 }).toEqual([{ number: 1 }]);
    await server.query('insert into kept values (2)');
    const held = 'select pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn() as held';
    await expect.poll(() => rows(standby.url, held), { interval: 20 }).toEqual([{ held: true }]);
    await server.stop('immediate');
    await standby.promote();
    expect(await rows(standby.url, 'insert into kept values (3) returning number')).toEqual([{ number: 3 }]);
    expect(await rows(standby.url, 'select number from kept order by 1')).toEqual([{ number: 1 }, { number: 3 }]);
  });

  test('an error has the end of the log', async () => {
    const { start } = await place({ settings: { shared_buffers: 'many' } });
    const error = await failureOf(start());
    expect(error.code).toBe('resources');
    expect(error.message).toContain('invalid value for parameter "shared_buffers": "many"');
    expect(error.hint).toContain('postgres.log');
  });

  test('a folder that is a file is named', async () => {
    const { start, folder } = await place();
    writeFileSync(folder, '');
    expect(await failureOf(start())).toMatchObject({ code: 'bad-folder', file: folder });
  });
});

test('programs that do not run, are too old or of different versions are not used, and it says why', async () => {
  const root = await postgresFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const broken = fakePrograms(join(root, 'broken/1/bin'), () => 'echo no such library; exit 127');
  fakePrograms(join(root, 'lib/9/bin'), (name) => `echo "${name} (PostgreSQL) 9.6.1"`);
  fakePrograms(
    join(root, 'lib/16/bin'),
    (name) => `echo "${name} (PostgreSQL) ${name === 'initdb' ? '16.1' : '15.2'}"`,
  );
  const env = { PATH: broken };
  const places = [join(root, 'lib/*/bin')];
  const none = await findPostgres(env, { places });
  expect('missing' in none && none.missing).toMatch(
    /initdb does not run \(no such library\).*16\/bin are of different versions \(16\.1, 15\.2, 15\.2\).*9\/bin is version 9/s,
  );
  fakePrograms(join(root, 'lib/17/bin'), (name) => `echo "${name} (PostgreSQL) 17.0 (Debian)"`);
  expect(await findPostgres(env, { places })).toMatchObject({
    bin: join(root, 'lib/17/bin'),
    version: '17.0',
    major: 17,
  });

  const error = await failureOf(
    startPostgres({ bin: broken, folder: join(root, 'server'), env: process.env, lock: tryLock }),
  );
  expect(error).toMatchObject({ code: 'not-found', file: broken });
  expect(error.message).toContain('no such library');
});

async function place(more: Partial<TemporaryOptions> = {}) {
  const bin = postgresBin();
  const root = await postgresFolder();
  const folder = join(root, 'server');
  const options: TemporaryOptions = { bin, folder, env: process.env, lock: tryLock, durable: false, ...more };
  const started: TemporaryPostgres[] = [];
  onTestFinished(async () => {
    for (const server of started) await server.stop('immediate');
    rmSync(root, { recursive: true, force: true });
  });
  const start = async () => {
    const server = await startPostgres(options);
    started.push(server);
    return server;
  };
  return { start, folder, options };
}

async function rows(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function failureOf(work: Promise<unknown>): Promise<NightshiftError> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (error instanceof NightshiftError) return error;
  throw new Error('not the expected error', { cause: error });
}

function fakePrograms(bin: string, script: (name: string) => string): string {
  mkdirSync(bin, { recursive: true });
  for (const name of ['initdb', 'postgres', 'pg_ctl']) {
    const file = join(bin, name);
    writeFileSync(file, `#!/bin/sh\n${script(name)}\n`);
    chmodSync(file, 0o755);
  }
  return bin;
}
