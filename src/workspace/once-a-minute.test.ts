import { expect, test } from 'vitest';
import { OnceAMinute } from './once-a-minute.ts';

test('W3 a row that is withdrawn while it fetches for others leaves the fetch to one of them', async () => {
  const once = new OnceAMinute(() => 0);
  const withdrawn = new AbortController();
  const { signal } = new AbortController();
  const began = once.run('origin', withdrawn.signal, async () => {
    await new Promise((resolve) => withdrawn.signal.addEventListener('abort', resolve));
    throw new Error('git was ended');
  });
  let fetches = 0;
  const fetch = async () => {
    fetches++;
  };
  const others = [once.run('origin', signal, fetch), once.run('origin', signal, fetch)];
  withdrawn.abort();
  await expect(began).rejects.toThrow('git was ended');
  await Promise.all(others);
  expect(fetches).toBe(1);

  const failing = once.run('upstream', signal, () => Promise.reject(new Error('no network')));
  const waiting = once.run('upstream', signal, fetch);
  await expect(Promise.all([failing, waiting])).rejects.toThrow('no network');
  await expect(waiting).rejects.toThrow('no network');
});
