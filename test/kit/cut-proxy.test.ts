import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CutProxy } from './cut-proxy.ts';

test('a proxy drops silently, refuses, and works again', async () => {
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  const address = echo.address();
  const proxy = await CutProxy.open(typeof address === 'object' && address ? address.port : 0);
  onTestFinished(async () => {
    await proxy.close();
    echo.close();
  });

  const first = client(proxy);
  expect(await first.ask('one')).toBe('one');
  proxy.drop();
  const second = client(proxy);
  expect(await Promise.race([first.ask('two'), second.ask('three'), sleep(200, 'silence')])).toBe('silence');
  expect([first.socket.closed, second.socket.closed]).toEqual([false, false]);
  expect(proxy.links).toBe(2);

  proxy.resume();
  await expect.poll(() => first.socket.closed && second.socket.closed).toBe(true);
  const third = client(proxy);
  expect(await third.ask('four')).toBe('four');

  proxy.refuse();
  await expect.poll(() => third.socket.closed).toBe(true);
  const fourth = client(proxy);
  await expect.poll(() => fourth.socket.closed).toBe(true);
  proxy.resume();
  expect(await client(proxy).ask('five')).toBe('five');
});

function client(proxy: CutProxy): { socket: Socket; ask(text: string): Promise<string> } {
  const socket = connect(proxy.port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => {});
  const ask = async (text: string) => {
    socket.write(text);
    const [answer] = await once(socket, 'data');
    return String(answer);
  };
  return { socket, ask };
}
