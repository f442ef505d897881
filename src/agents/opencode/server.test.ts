import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NO_MASK } from '../../core/text/mask.ts';
import { OpencodeServer } from './server.ts';

/** Tells events to whoever listens, and breaks off when the configuration of a folder `break` is asked for. */
const PROGRAM = `#!${process.execPath}
const http = require('node:http');
const listeners = new Set();
const tell = (response, payload) => response.write('data: ' + JSON.stringify({ directory: '/', payload }) + '\\n\\n');
http
  .createServer((request, response) => {
    if (request.url.startsWith('/global/event')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      tell(response, { type: 'server.connected', properties: {} });
      listeners.add(response);
      return;
    }
    if (request.url.includes('break')) for (const each of listeners) each.destroy();
    if (request.url.includes('tell')) for (const each of listeners) tell(each, { type: 'session.idle', properties: { sessionID: 's' } });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{}');
  })
  .listen(0, '127.0.0.1', function () {
    console.log('opencode server listening on http://127.0.0.1:' + this.address().port);
  });
`;

test('X1 who waits is told when events may have been missed, and hears the next ones', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'opencode'), PROGRAM);
  chmodSync(join(folder, 'opencode'), 0o755);
  const server = await OpencodeServer.start({
    root: folder,
    folder,
    environment: { PATH: folder },
    mask: NO_MASK,
    knownServers: new Set(),
    signal: new AbortController().signal,
  });
  if ('reason' in server) throw new Error(server.reason);
  await using _server = server;
  const heard: string[] = [];
  const hearer = {
    hear: ({ type }: { type: string }) => void heard.push(type),
    missed: () => void heard.push('missed'),
    gone: () => {},
  };
  const tell = () => server.client.config.get({ directory: 'tell' });
  // Until it listens, nothing is heard for sure.
  await expect
    .poll(() => {
      heard.length = 0;
      server.hear('s', hearer);
      return heard;
    })
    .toEqual([]);
  await tell();
  await expect.poll(() => heard).toEqual(['session.idle']);
  await server.client.config.get({ directory: 'break' });
  await expect.poll(() => heard).toEqual(['session.idle', 'missed']);
  await expect
    .poll(async () => {
      await tell();
      return heard.at(-1);
    })
    .toBe('session.idle');
});
