import { atMost, type Section } from './figure.ts';
import { ms, NIGHTSHIFT, node, takeTurns } from './measure.ts';
import { Project, SHIFT, STREAM, wideTable } from './project.ts';

/** How long somebody waits for the first word. */
export async function startup(): Promise<Section> {
  using project = new Project({ settings: STREAM, table: wideTable(10_000), step: 'true' });
  let row = 0;
  const taken = await takeTurns(15, {
    empty: async () => (await node(['-e', '0'])).ms,
    help: async () => (await node([NIGHTSHIFT, '--help'])).ms,
    // Another row each time: where all is done there is nothing to start.
    start: async () => {
      const args = [NIGHTSHIFT, 'start', SHIFT, '--rows', String(++row)];
      return (await node(args, { cwd: project.root })).firstOutputMs;
    },
  });
  const other = `node -e 0: ${ms(taken.empty)}`;
  return {
    title: 'Startup',
    figures: [
      { what: 'nightshift --help', ours: ms(taken.help), other, ratio: taken.help / taken.empty, target: atMost(2) },
      {
        what: 'first output of start, 10,000 rows',
        ours: ms(taken.start),
        other,
        ratio: taken.start / taken.empty,
        target: atMost(5),
      },
    ],
  };
}
