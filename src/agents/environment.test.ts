import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LocalOrder } from '../core/model/model.ts';
import { agentEnvironment, environmentNames, itemEnvironment } from './environment.ts';
import { runProcess, SHELL } from './process/process.ts';

const LISTED = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'SHELL', 'SSH_AUTH_SOCK', 'XDG_CONFIG_HOME'],
  ...['HTTP_PROXY', 'https_proxy', 'NO_PROXY', 'all_proxy', 'SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO'],
];
const UNLISTED = [
  'AWS_SECRET_ACCESS_KEY',
  'GITHUB_TOKEN',
  'PATHS',
  'MY_PATH',
  'LC',
  'path',
  'NIGHTSHIFT_KEY',
  'CI',
  'CI_JOB',
];
const caller = Object.fromEntries([...LISTED, ...UNLISTED].map((name) => [name, `caller's ${name}`]));
caller.PATH = process.env.PATH!;

test('S5 an agent that dumps its environment sees the listed names and no other', async () => {
  const env = agentEnvironment({ caller, passEnv: [], secrets: {}, own: {} });
  const { stdout } = await runProcess({
    file: SHELL,
    args: ['-c', 'env'],
    cwd: '/',
    env,
    signal: new AbortController().signal,
    keepBytes: 1 << 16,
  });
  const names = stdout.text
    .trim()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('=')));
  // Set by every shell itself.
  expect(names.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)).sort()).toEqual([...LISTED].sort());
});

test('S5 pass-env adds names and prefixes; .env wins over the caller, NIGHTSHIFT_* over both', () => {
  const sources = {
    caller,
    passEnv: ['GITHUB_TOKEN', 'CI_*', 'NOT_SET', 'NIGHTSHIFT_KEY'],
    secrets: { HOME: '/secret', API_KEY: 's3', NIGHTSHIFT_ROLE: 'manager', NIGHTSHIFT_KEY: 'forged' },
    own: { NIGHTSHIFT_ROLE: 'dev', NIGHTSHIFT_KEY: 'k1' },
  };
  const given = agentEnvironment(sources);
  expect(given).toMatchObject({ HOME: '/secret', API_KEY: 's3', NIGHTSHIFT_ROLE: 'dev', NIGHTSHIFT_KEY: 'k1' });
  const added = ['API_KEY', 'CI_JOB', 'GITHUB_TOKEN', 'NIGHTSHIFT_KEY', 'NIGHTSHIFT_ROLE'];
  expect(environmentNames(sources)).toEqual({
    given: [...LISTED, ...added].sort(),
    withheld: ['AWS_SECRET_ACCESS_KEY', 'CI', 'LC', 'MY_PATH', 'PATHS', 'path'],
  });
});

test('X4 the NIGHTSHIFT_* variables of an item', () => {
  const order = {
    role: 'qa',
    shift: { name: 'pages', folder: '/r/.nightshift/pages', table: '/r/.nightshift/pages/table.csv', root: '/r' },
    task: 'create_page',
    item: { id: 'i', index: 6, metadata: { slug: 'a "b"', title: 'é' } },
    key: 'k-7',
  } as unknown as LocalOrder;
  expect(itemEnvironment(order, 2, '/tmp/out')).toEqual({
    NIGHTSHIFT_ROLE: 'qa',
    NIGHTSHIFT_SHIFT: 'pages',
    NIGHTSHIFT_SHIFT_DIR: '/r/.nightshift/pages',
    NIGHTSHIFT_TABLE: '/r/.nightshift/pages/table.csv',
    NIGHTSHIFT_TASK: 'create_page',
    NIGHTSHIFT_INDEX: '6',
    NIGHTSHIFT_ROW: '7',
    NIGHTSHIFT_ATTEMPT: '2',
    NIGHTSHIFT_ITEM: '{"slug":"a \\"b\\"","title":"é"}',
    NIGHTSHIFT_KEY: 'k-7',
    NIGHTSHIFT_OUTPUT: '/tmp/out',
  });
});

test('S5 W8 in a workspace an agent has no login, and `git push` fails', async () => {
  const names = (passEnv: string[]) =>
    Object.keys(agentEnvironment({ ...{ caller, passEnv, isInWorkspace: true }, secrets: {}, own: {} }));
  expect(names([])).not.toContain('SSH_AUTH_SOCK');
  expect(names(['SSH_AUTH_SOCK'])).toContain('SSH_AUTH_SOCK');
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-push-'));
  const env = agentEnvironment({ caller: process.env, passEnv: [], secrets: {}, own: {}, isInWorkspace: true });
  const script = `
    git init -q --bare remote.git && git init -q -b main here && cd here && git commit -q --allow-empty -m first
    git remote add origin "$PWD/../remote.git"
    git fetch -q origin && git push -q origin main || git push -q ../remote.git main || echo refused
    git --git-dir=../remote.git for-each-ref`;
  const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  const { stdout, stderr } = await runProcess({
    ...{ file: SHELL, args: ['-c', script], cwd: folder, env: { ...env, ...author } },
    ...{ signal: new AbortController().signal, keepBytes: 1 << 16 },
  });
  rmSync(folder, { recursive: true });
  expect(stdout.text).toBe('refused\n');
  expect(stderr.text).toContain('nightshift-delivers-this');
});
