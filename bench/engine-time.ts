import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, type Section } from './figure.ts';
import { NOT_INSTALLED, parallelVersion } from './gnu-parallel.ts';
import { ms, NIGHTSHIFT, node, program, run, takeTurns } from './measure.ts';
import { EIGHT_AT_ONCE, Project, SHIFT, STREAM, TASK } from './project.ts';

const ITEMS = 2000;

/** What the engine itself takes: items that do nothing, so that all the time is overhead. */
export async function engineTime(): Promise<Section> {
  const spawns = 2 * ITEMS;
  const joblog = join(tmpdir(), `nightshift-bench-${process.pid}.joblog`);
  const parallel = ['-j8', '--joblog', joblog, '-N0', 'true'];
  const input = Array.from({ length: spawns }, (_, i) => `${i}\n`).join('');
  const hasParallel = parallelVersion() !== undefined;
  const taken = await takeTurns(3, {
    stream: () => nightshift(STREAM),
    batches: () => nightshift(EIGHT_AT_ONCE),
    loop: async () => (await node([program('spawn-loop'), String(spawns), '8'])).ms,
    parallel: async () => (hasParallel ? (await run('parallel', parallel, { input })).ms : Number.NaN),
  });
  rmSync(joblog, { force: true });
  const loop = `4,000 spawns in a Node loop: ${ms(taken.loop)}`;
  const gnu = hasParallel ? `GNU parallel --joblog: ${ms(taken.parallel)}` : NOT_INSTALLED;
  const toGnu = (ours: number) => (hasParallel ? ours / taken.parallel : undefined);
  const figure = (dispatch: 'stream' | 'batches') => ({
    what: `2,000 items, 8 at once, ${dispatch}`,
    ours: ms(taken[dispatch]),
  });
  return {
    title: 'Engine time',
    figures: [
      { ...figure('stream'), other: loop, ratio: taken.stream / taken.loop, target: atMost(1.5) },
      { ...figure('stream'), other: gnu, ratio: toGnu(taken.stream), target: atMost(1) },
      { ...figure('batches'), other: loop, ratio: taken.batches / taken.loop },
      { ...figure('batches'), other: gnu, ratio: toGnu(taken.batches) },
    ],
  };
}

async function nightshift(settings: Readonly<Record<string, string | number | boolean>>): Promise<number> {
  const rows = Array.from({ length: ITEMS }, (_, i) => `item-${i},todo\n`).join('');
  using project = new Project({ settings, table: `name,${TASK}\n${rows}`, step: 'true' });
  const ended = await node([NIGHTSHIFT, 'start', SHIFT], { cwd: project.root });
  return ended.ms;
}
