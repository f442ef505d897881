import { expect, test } from 'vitest';
import { DeliveryPlace, valuesOf } from '../../../test/kit/delivery-place.ts';

const BRANCH = 'nightshift/night/row-2';
const MERGED = 'nightshift/night/merged';
const OF_ALL = ['delivery:committed', 'delivery:intended', 'delivery:recorded'] as const;
const POINTS = {
  branch: [...OF_ALL, 'delivery:branched'],
  merge: [...OF_ALL, 'delivery:branched', 'delivery:merged'],
  push: [...OF_ALL, 'delivery:branched', 'delivery:pushed'],
  pr: [...OF_ALL, 'delivery:branched', 'delivery:pushed', 'delivery:opened'],
  patch: OF_ALL,
} as const;
const KINDS = Object.keys(POINTS) as (keyof typeof POINTS)[];

/** Everything that a delivery of row 2 leaves outside of its desk. */
function effects(place: DeliveryPlace) {
  const subjects = (folder: string, ref: string) =>
    place.gitIn(folder, 'for-each-ref', `refs/heads/${ref}`) === ''
      ? []
      : place.gitIn(folder, 'log', '--format=%s', `main..${ref}`).split('\n');
  return {
    branch: subjects(place.repository, BRANCH),
    merged: subjects(place.repository, MERGED),
    pushed: subjects(place.remote, BRANCH),
    pullRequests: place.pullRequests.length,
  };
}

/** Row 1 is merged before, so that row 2 is rebased. */
async function prepare(kind: keyof typeof POINTS): Promise<DeliveryPlace> {
  const place = new DeliveryPlace();
  for (const row of [1, 2]) await place.row(row);
  place.write('row-1/a.txt', 'ONE\ntwo\nthree\n');
  place.write('row-2/b.txt', 'B\n');
  if (kind === 'merge') valuesOf(await place.deliver(1, 'merge'));
  return place;
}

function expected(kind: keyof typeof POINTS) {
  return {
    branch: kind === 'patch' ? [''] : ['Row 2'],
    merged: kind === 'merge' ? ['Row 2', 'Row 1'] : [],
    pushed: kind === 'push' || kind === 'pr' ? ['Row 2'] : [],
    pullRequests: kind === 'pr' ? 1 : 0,
  };
}

test.each(KINDS)('W9 a delivery by %s that a crash interrupts anywhere has its effect once', async (kind) => {
  using place = await prepare(kind);
  for (const point of POINTS[kind]) expect([point, await place.crash(2, kind, point)]).toEqual([point, true]);
  const values = valuesOf(await place.deliver(2, kind));
  expect(effects(place)).toEqual(expected(kind));
  expect(valuesOf(await place.deliver(2, kind))).toEqual(values);
  expect(effects(place)).toEqual(expected(kind));
  expect(place.records.get('id-2')?.delivery?.state).toBe('done');
  // Its own change, and nothing of what it was merged with.
  if (kind !== 'patch') expect(place.git('diff', '--name-only', 'main', BRANCH)).toBe('b.txt');
  expect(place.git('status', '--porcelain')).toBe('');
});

test.each(KINDS)(
  'W9 a second delivery by %s with another change updates the first, also across crashes',
  async (kind) => {
    using place = await prepare(kind);
    valuesOf(await place.deliver(2, kind));
    place.write('row-2/b.txt', 'BB\n');
    for (const point of POINTS[kind]) expect([point, await place.crash(2, kind, point)]).toEqual([point, true]);
    const values = valuesOf(await place.deliver(2, kind));
    const once = expected(kind);
    // A branch that others may have fetched is not rewritten: the second change goes on top.
    expect(effects(place)).toEqual({ ...once, merged: kind === 'merge' ? ['Row 2', ...once.merged] : [] });
    if (kind === 'patch') expect(place.read('patches/2-row-2.patch')).toContain('\n+BB\n');
    else expect(place.git('show', `${values.commit}:b.txt`)).toBe('BB');
  },
);

test('W9 after its record is gone, a row finds its branch and its pull request by key', async () => {
  using place = await prepare('pr');
  valuesOf(await place.deliver(2, 'pr'));
  const { delivery: _, ...record } = place.records.get('id-2')!;
  place.records.set('id-2', record);
  place.write('row-2/b.txt', 'BB\n');
  valuesOf(await place.deliver(2, 'pr'));
  expect(effects(place)).toEqual(expected('pr'));
  expect(place.gitIn(place.remote, 'show', `${BRANCH}:b.txt`)).toBe('BB');
});

test('W9 a pull request that was merged or closed is not opened again for the same commit', async () => {
  using place = await prepare('pr');
  expect(await place.crash(2, 'pr', 'delivery:opened')).toBe(true);
  place.closePullRequest(1, 'MERGED');
  expect(valuesOf(await place.deliver(2, 'pr'))).toMatchObject({ pr_state: 'merged' });
  expect(place.pullRequests).toHaveLength(1);
  place.write('row-2/b.txt', 'BB\n');
  expect(valuesOf(await place.deliver(2, 'pr'))).toMatchObject({ pr_url: 'https://forge.example/pull/2' });
});

test('W9 a merge that a crash interrupted is found, also if others changed the same lines on top since', async () => {
  using place = await prepare('merge');
  expect(await place.crash(2, 'merge', 'delivery:merged')).toBe(true);
  const merged = place.git('rev-parse', MERGED);
  const tree = place.git('rev-parse', 'main^{tree}');
  place.git('update-ref', `refs/heads/${MERGED}`, place.git('commit-tree', '-p', merged, '-m', 'of a person', tree));
  expect(valuesOf(await place.deliver(2, 'merge')).commit).toBe(merged);
  expect(effects(place).merged).toEqual(['of a person', 'Row 2', 'Row 1']);
});

test.each(
  (['merge', 'pr'] as const).flatMap((kind) => [
    [kind, 'has no room to run', 'trouble' as const] as const,
    [kind, 'is ended', 'aborted' as const] as const,
  ]),
)(
  'W8 W9 in a delivery by %s, git that %s at any call fails no row, and the effect comes once',
  async (kind, _, end) => {
    using place = await prepare(kind);
    // Each call is hit once, whatever commit it is about.
    const hit = new Set<string>();
    for (let isHit = true; isHit; ) {
      const run = new AbortController();
      isHit = false;
      place.hasRoom = ({ args }) => {
        const name = args.join(' ').replace(/[0-9a-f]{40}/g, 'COMMIT');
        if (isHit || hit.has(name)) return true;
        hit.add(name);
        isHit = true;
        if (end === 'aborted') run.abort();
        return false;
      };
      const result = await place.deliver(2, kind, { signal: run.signal });
      expect([[...hit].at(-1), result]).toMatchObject([expect.anything(), { kind: isHit ? end : 'delivered' }]);
    }
    expect(effects(place)).toEqual(expected(kind));
  },
);
