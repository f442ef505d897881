import { expect, test } from 'vitest';
import { hasLogin, withoutLogin } from './login.ts';

test.each([
  ['https://user:token@host/x.git', true],
  ['https://token@host/x.git', true],
  ['HTTP://:token@host:8080/x.git', true],
  ['ssh://git:password@host/x.git', true],
  ['user:password@host:x.git', true],
  ['https://host:8080/@scope/x.git', false],
  ['https://host/a:b@c.git', false],
  ['ssh://git@host:22/x.git', false],
  ['git@host:dir@v2/x.git', false],
  ['/srv/a:b@c/x.git', false],
  ['../x@y:z.git', false],
])('S4 whether %s has a login: %s', (address, expected) => {
  expect(hasLogin(address)).toBe(expected);
});

test('S4 a message has addresses without their logins', () => {
  const said = "fatal: unable to access 'https://user:token@host/x.git/': see https://host/a@b";
  expect(withoutLogin(said)).toBe("fatal: unable to access 'https://host/x.git/': see https://host/a@b");
});
