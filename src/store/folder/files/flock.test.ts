import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lockWithin, tryLock } from './flock.ts';

/** Another program that holds the lock until it is ended: util-linux' flock. */
async function heldFile() {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-flock-'));
  const file = join(folder, 'table.csv.lock');
  writeFileSync(file, '');
  const holder = spawn('flock', ['-x', file, 'sh', '-c', 'echo held; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const end = () => {
    try {
      process.kill(-holder.pid!, 'SIGKILL');
    } catch {}
  };
  onTestFinished(() => {
    end();
    rmSync(folder, { recursive: true, force: true });
  });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  return { file, pid: holder.pid!, end };
}

test('T3 a lock that another program holds is waited for without blocking, and given up with its name', async () => {
  const { file, pid } = await heldFile();
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  const waited = lockWithin(file, 400);
  await expect(waited).rejects.toMatchObject({
    code: 'locked',
    file,
    message: expect.stringMatching(new RegExp(`locked for .* by process ${pid} \\(flock -x `)),
  });
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(3);
});

test('T3 the lock of a program that is killed is free at once, and two of our own exclude each other', async () => {
  const { file, end } = await heldFile();
  expect(tryLock(file)).toBeUndefined();
  const waiting = lockWithin(file, 20_000);
  end();
  const lock = await waiting;
  expect(tryLock(file)).toBeUndefined();
  lock[Symbol.dispose]();
  const again = tryLock(file);
  expect(again).toBeDefined();
  again?.[Symbol.dispose]();
});
