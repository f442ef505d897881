import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NO_MASK } from '../../core/text/mask.ts';
import { OpencodePool } from './pool.ts';

const PROGRAM = `#!${process.execPath}
require('node:http')
  .createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  })
  .listen(0, '127.0.0.1', function () {
    console.log('opencode server listening on http://127.0.0.1:' + this.address().port);
  });
`;

test('a server without a session is stopped after a while, and the next session gets another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'opencode'), PROGRAM);
  chmodSync(join(folder, 'opencode'), 0o755);
  await using pool = new OpencodePool(300);
  const take = async () => {
    const server = await pool.take({ root: folder, folder, environment: { PATH: folder }, mask: NO_MASK });
    if ('reason' in server) throw new Error(server.reason);
    return server;
  };
  const first = await take();
  const second = await take();
  expect(second).toBe(first);
  await pool.release(second);
  // It still has a session.
  expect(await Promise.race([first.ended, new Promise((resolve) => setTimeout(resolve, 600, 'alive'))])).toBe('alive');
  await pool.release(first);
  expect(await first.ended).toBe('it was stopped');
  const third = await take();
  expect(third).not.toBe(first);
  expect(third.isAlive).toBe(true);
  await pool.release(third);
});
