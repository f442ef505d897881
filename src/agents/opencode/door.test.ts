import { expect, test } from 'vitest';
import { Door } from './door.ts';

test('X1 sessions begin one after the other, and nobody waits for ever for one that says nothing', async () => {
  const door = new Door(50);
  const entered: string[] = [];
  let through = () => {};
  const first = new Promise<void>((resolve) => {
    through = resolve;
  });
  const enter = (name: string, until: Promise<unknown>) => door.enter(until).then(() => entered.push(name));
  await enter('first', first);
  const silent = new Promise(() => {});
  const others = [enter('silent', silent), enter('last', silent)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toEqual(['first']);
  through();
  await others[0];
  expect(entered).toEqual(['first', 'silent']);
  await others[1];
  expect(entered).toEqual(['first', 'silent', 'last']);
});

test('X1 who need not come in any more does not wait, and keeps nobody waiting', async () => {
  const door = new Door(600_000);
  let through = () => {};
  const first = new Promise<void>((resolve) => {
    through = resolve;
  });
  await door.enter(first);
  await door.enter(Promise.resolve());
  const last = door.enter(new Promise(() => {}));
  through();
  await last;
});
