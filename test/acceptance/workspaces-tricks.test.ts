import { lstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Ended } from '../harness.ts';
import { sandboxTest } from '../kit/sandbox-test.ts';
import { type TrickAgent, TrickProject } from '../kit/tricks.ts';

/** Why first attempts failed, by row. */
function reasonsOf({ events }: Ended, names: readonly string[]): Record<string, string> {
  const failed = events.filter(({ type, attempt, reason }) => type === 'attempt:finished' && attempt === 1 && reason);
  return Object.fromEntries(
    failed.map(({ index, reason }) => [names[index], reason.replace('FAILED (validation): ', '')]),
  );
}

function warningsOf({ events }: Ended): string[] {
  return events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
}

const NAMES = [
  ...['victim', 'push', 'forced-push', 'neighbour', 'checkout', 'hooks', 'hooks-path', 'filters'],
  ...['links', 'removal', 'huge', 'own-branch', 'main-branch'],
];

test.each<TrickAgent>(['shell', 'command', 'acp'])(
  'W11 W4 what an agent tries outside of its workspace is found, its attempt fails, and the next one works: %s',
  async (agent) => {
    const project = new TrickProject();
    const shift = project.night(agent, NAMES);
    const ended = await shift.start([], { env: project.env });
    const { main, remote } = project;
    const changed = (what: string) => `it changed ${what}, outside of its workspace`;
    // You may work in your checkout: only what an agent was seen to do fails.
    const isSeen = agent !== 'command';
    expect(reasonsOf(ended, NAMES)).toEqual({
      'forced-push': changed(`refs/heads/main of ${remote}`),
      neighbour: changed('evil.txt of the workspace of row 1'),
      ...(isSeen && { checkout: changed(`a.txt of ${main}`) }),
      hooks: changed(`.git/hooks/pre-commit of ${main}`),
      'hooks-path': changed(`.git/config core.hookspath of ${main}`),
      filters: changed(`.git/config filter.evil.clean of ${main}`),
      removal: expect.stringMatching(/^its workspace .* is gone$/),
      huge: expect.stringMatching(/^huge\.bin is too large/),
      'main-branch': changed(`refs/heads/main of ${main}`),
    });
    expect(warningsOf(ended)).toEqual(isSeen ? [] : [`${main}: a.txt changed while row 5 was running`]);
    expect([ended.code, shift.column('work')]).toEqual([0, NAMES.map(() => 'done')]);
    // Neither hooks nor filters of an agent have run.
    expect(project.exists('evil')).toBe(false);
    const changeOf = async (row: number) => (await project.command(['diff', 'night', `${row}`, '--name-only'])).stdout;
    expect(await changeOf(NAMES.indexOf('filters') + 1)).toBe('filters.txt\n');
    expect(await changeOf(NAMES.indexOf('links') + 1)).toBe('link.txt\nlinks.txt\nout\n');
  },
  300_000,
);

test('W8 W11 what agents do to branches, here and at the remote, is told and does not change what is delivered', async () => {
  const project = new TrickProject();
  const names = ['victim', 'own-push', 'own-branch', 'links', 'other-branch'];
  const shift = project.night('command', names, { deliver: 'push' });
  const ended = await shift.start([], { env: project.env });
  expect(reasonsOf(ended, names)).toEqual({
    'own-push': `it changed refs/heads/nightshift/night/own-push of ${project.remote}, outside of its workspace`,
    'other-branch': `it changed refs/heads/nightshift/night/victim of ${project.main}, outside of its workspace`,
  });
  expect([warningsOf(ended), shift.column('work')]).toEqual([[], names.map(() => 'done')]);
  for (const name of names) {
    const branch = `nightshift/night/${name}`;
    const files = project.git('remote.git', 'diff', '--name-only', 'main', branch).split('\n');
    expect(files).toEqual(name === 'links' ? ['link.txt', 'links.txt', 'out'] : [`${name}.txt`]);
    expect(project.git('remote.git', 'rev-list', '--count', `main..${branch}`)).toBe('1');
  }
});

test('W11 of several rows at work none is blamed without evidence, and a row whose workspace was entered starts over', async () => {
  const project = new TrickProject();
  const together = { parallel: true, dispatch: 'stream', 'current-batch-size': 2 };
  const waitFor = (name: string) => `until test -e ${project.begun}/${name}; do sleep 0.05; done`;
  project.tricks.hooks += `; ${waitFor('checkout')}`;
  project.tricks.checkout += `; ${waitFor('hooks')}`;
  const told = await project.night('command', ['hooks', 'checkout'], together).start([], { env: project.env });
  expect([told.code, reasonsOf(told, ['hooks', 'checkout'])]).toEqual([0, {}]);
  expect(warningsOf(told).join()).toMatch(/\.git\/hooks\/pre-commit.* changed while rows 1, 2 were running/);

  const other = new TrickProject();
  other.tricks.victim = `until test -e ${other.begun}/neighbour-again; do sleep 0.05; done`;
  other.tricks.neighbour = `until test -e ../1-victim/.git; do sleep 0.05; done; ${other.tricks.neighbour}`;
  const names = ['victim', 'neighbour'];
  const shift = other.night('acp', names, { ...together, deliver: 'branch' });
  const ended = await shift.start([], { env: other.env });
  expect(reasonsOf(ended, names)).toEqual({ neighbour: 'it went into the workspace of row 1' });
  const returned = ended.events.filter(({ type }) => type === 'item:returned');
  expect(returned).toMatchObject([{ index: 0, reason: 'row 2 went into its workspace: it starts over' }]);
  expect(shift.column('work')).toEqual(['done', 'done']);
  expect(other.git('repository', 'diff', '--name-only', 'main', 'nightshift/night/victim')).toBe('victim.txt');
});

sandboxTest('W11 W12 in the sandbox, nothing of that has an effect on others', async () => {
  const project = new TrickProject();
  const shift = project.night('command', NAMES, { sandbox: true });
  const state = () => [
    project.git('repository', 'for-each-ref', 'refs/heads/main'),
    ...['status', 'config --list --local', 'stash list'].map((args) => project.git('repository', ...args.split(' '))),
    project.git('remote.git', 'for-each-ref'),
    lstatSync(project.path('repository/.git/hooks')).mtimeMs,
  ];
  const before = state();
  const ended = await shift.start([], { env: project.env });
  expect(state()).toEqual(before);
  expect(reasonsOf(ended, NAMES)).toEqual({
    removal: expect.stringContaining('It is clean'),
    huge: expect.stringMatching(/^huge\.bin is too large/),
  });
  expect([warningsOf(ended), shift.column('work')]).toEqual([[], NAMES.map(() => 'done')]);
});
