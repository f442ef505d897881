import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure } from '../figure.ts';
import { ms, NIGHTSHIFT, node, takeTurns } from '../measure.ts';
import { Project, SHIFT, STREAM, wideTable } from '../project.ts';
import { servePage } from './served-page.ts';
import { watchGrid } from './watcher.ts';

const ROUNDS = 5;
const TABLE_ROWS = 10_000;

interface Night {
  readonly what: string;
  readonly items: number;
  readonly step: string;
}

/** The first is like a night, but short; in the second, the run itself needs all of the machine. */
const NIGHTS: readonly Night[] = [
  { what: '600 items of 0.2 s', items: 600, step: 'sleep 0.2' },
  { what: '600 items of no time', items: 600, step: 'true' },
];

/** What a run loses to a page that watches it. */
export async function watchedRuns(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const night of NIGHTS) {
    const taken = await takeTurns(ROUNDS, { alone: () => timeAlone(night), watched: () => timeWatched(night) });
    figures.push({
      what: `${night.what}, 8 at once, ${TABLE_ROWS} rows: watched by a page`,
      ours: ms(taken.watched),
      other: `not watched: ${ms(taken.alone)}`,
      ratio: taken.watched / taken.alone,
      target: atMost(1.05),
    });
  }
  return figures;
}

async function timeAlone(night: Night): Promise<number> {
  using project = projectOf(night);
  return await timeRun(project, night);
}

/** Without the start of the page: it was open before. */
async function timeWatched(night: Night): Promise<number> {
  using project = projectOf(night);
  await using page = await servePage(project);
  const closing = new AbortController();
  const watching = watchGrid(page.url, closing.signal);
  await sleep(1000);
  const taken = await timeRun(project, night);
  closing.abort();
  const { messages, answers } = await watching;
  if (messages < night.items || answers.length < 4)
    throw new Error(`the page got ${messages} messages, ${answers.length} answers`);
  return taken;
}

function projectOf({ step }: Night): Project {
  return new Project({ settings: STREAM, table: wideTable(TABLE_ROWS), step });
}

async function timeRun({ root }: Project, { items }: Night): Promise<number> {
  return (await node([NIGHTSHIFT, 'start', SHIFT, '--rows', `1:${items}`], { cwd: root })).ms;
}
