import { lognormal, randomFrom } from '../test/kit/random.ts';
import { atMost, type Section } from './figure.ts';
import { NOT_INSTALLED, parallelVersion } from './gnu-parallel.ts';
import { ms, NIGHTSHIFT, node, run, takeTurns } from './measure.ts';
import { Project, SHIFT, STREAM, TASK } from './project.ts';

const ITEMS = 64;
/** Eight at once, so that a run takes about 20 s. */
const WORK_SECONDS = 160;

/** Real processes of uneven length: how much of the time between them is lost. */
export async function realRun(): Promise<Section> {
  const random = randomFrom(1);
  const drawn = Array.from({ length: ITEMS }, () => lognormal(random, 1, 0.8));
  const scale = WORK_SECONDS / drawn.reduce((sum, each) => sum + each, 0);
  const seconds = drawn.map((each) => (each * scale).toFixed(2));
  const hasParallel = parallelVersion() !== undefined;
  const taken = await takeTurns(2, {
    stream: async () => {
      const rows = seconds.map((each, i) => `item-${i},${each},todo\n`).join('');
      const table = `name,seconds,${TASK}\n${rows}`;
      using project = new Project({ settings: STREAM, table, step: 'sleep {seconds}' });
      return (await node([NIGHTSHIFT, 'start', SHIFT], { cwd: project.root })).ms;
    },
    parallel: async () =>
      hasParallel ? (await run('parallel', ['-j8', 'sleep'], { input: seconds.join('\n') })).ms : Number.NaN,
  });
  return {
    title: 'A real run',
    figures: [
      {
        what: '64 items of sleep, lognormal, 8 at once, stream',
        ours: ms(taken.stream),
        other: hasParallel ? `GNU parallel -j8: ${ms(taken.parallel)}` : NOT_INSTALLED,
        ratio: hasParallel ? taken.stream / taken.parallel : undefined,
        target: atMost(1.1),
      },
    ],
  };
}
