import { expect, test } from 'vitest';
import { Ports } from './free-port.ts';

test('W5 every workspace has a port of its own, and the same one until it is removed', async () => {
  const ports = new Ports(20);
  const [first, second] = await Promise.all([ports.of('first'), ports.of('second')]);
  expect(first).not.toBe(second);
  // More workspaces than there are ports, one after the other.
  for (let row = 0; row < 40; row++) {
    expect([first, second]).not.toContain(await ports.of(`row-${row}`));
    ports.release(`row-${row}`);
  }
  expect(await ports.of('first')).toBe(first);
  const all = Array.from({ length: 40 }, (_, row) => ports.of(`row-${row}`));
  await expect(Promise.all(all)).rejects.toMatchObject({ code: 'resources' });
});
