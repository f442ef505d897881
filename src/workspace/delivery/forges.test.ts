import { expect, test } from 'vitest';
import { forgeOf } from './forges.ts';

test.each([
  ['https://gitlab.com/team/app.git', 'glab', 'https://gitlab.com/team/app'],
  ['ssh://git@gitlab.example.org:2222/team/tools/app.git', 'glab', 'https://gitlab.example.org/team/tools/app'],
  ['git@gitlab.example.org:team/app.git', 'glab', 'https://gitlab.example.org/team/app'],
  ['https://github.com/acme/app/', 'gh', 'github.com/acme/app'],
  ['git@github.example.org:acme/app.git', 'gh', 'github.example.org/acme/app'],
  ['/srv/gitlab/app.git', 'gh', undefined],
])('W8 %s: %s --repo %s', (address, program, repo) => {
  const forge = forgeOf(address);
  const args = forge.list('row');
  expect([forge.program, args.includes('--repo') ? args[args.indexOf('--repo') + 1] : undefined]).toEqual([
    program,
    repo,
  ]);
});

test('W9 a pull request of a fork is not the one of this repository', () => {
  const { read } = forgeOf('https://github.com/acme/app');
  const own = { url: 'https://github.com/acme/app/pull/2', state: 'OPEN', headRefOid: 'abc' };
  const strange = {
    url: 'https://github.com/acme/app/pull/1',
    state: 'OPEN',
    headRefOid: 'def',
    isCrossRepository: true,
  };
  expect(read(JSON.stringify([strange, { ...own, isCrossRepository: false }]))).toEqual([
    { url: own.url, state: 'open', commit: 'abc' },
  ]);
  expect([read('null'), read('no json'), read(JSON.stringify(own))]).toMatchObject([[], [], [{ url: own.url }]]);
});
