import { expect, test } from 'vitest';
import { Door } from './opencode-door.ts';

test('X1 sessions begin one after the other, and nobody waits for ever for one that says nothing', async () => {
  const door = new Door(50);
  const entered: string[] = [];
  let through = () => {};
  const first = new Promise<void>((resolve) => {
    through = resolve;
  });
  const enter = (name: string, until: Promise<unknown>) => door.enter(until).then(() => entered.push(name));
  await enter('first', first);
  const others = [enter('silent', new Promise(() => {})), enter('last', Promise.resolve())];
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toEqual(['first']);
  through();
  await others[0];
  expect(entered).toEqual(['first', 'silent']);
  await others[1];
  expect(entered).toEqual(['first', 'silent', 'last']);
});
