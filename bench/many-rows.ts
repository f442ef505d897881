import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { atLeast, atMost, type Figure, type Section } from './figure.ts';
import { megabytes, ms, NIGHTSHIFT, node, program, takeTurns } from './measure.ts';
import { Project, SHIFT, STREAM, wideTable } from './project.ts';

const MILLION = 1_000_000;

/** What the size of the table costs: it should not be felt where agents take their time, and a million must work. */
export async function manyRows(): Promise<Section> {
  const slow = await takeTurns(3, { few: () => itemsPerSecond(1000), many: () => itemsPerSecond(100_000) });
  const rate: Figure = {
    what: 'items of 1 s, 8 at once, 100,000 rows',
    ours: `${slow.many.toFixed(2)} items/s`,
    other: `the same at 1,000 rows: ${slow.few.toFixed(2)} items/s`,
    ratio: slow.many / slow.few,
    target: atLeast(0.9),
  };
  return { title: 'Many rows', figures: [rate, ...(await aMillion())] };
}

/** From the first claim to the last verdict, as the run itself tells it. */
async function itemsPerSecond(rows: number): Promise<number> {
  const count = 64;
  using project = new Project({ settings: STREAM, table: wideTable(rows), step: 'sleep 1' });
  const args = [NIGHTSHIFT, 'start', SHIFT, '--json', '--rows', `1:${count}`];
  const { stdout } = await node(args, { cwd: project.root });
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; at: string; to?: string });
  const claimed = events.find(({ type }) => type === 'batch:claimed')!;
  const done = events.filter(({ type, to }) => type === 'item:recorded' && to === 'done');
  if (done.length !== count) throw new Error(`${done.length} of ${count} items were done`);
  return (1000 * count) / (Date.parse(done.at(-1)!.at) - Date.parse(claimed.at));
}

async function aMillion(): Promise<Figure[]> {
  using project = new Project({ settings: STREAM, table: wideTable(MILLION), step: 'true' });
  const table = join(project.folder, 'table.csv');
  const { size } = statSync(table);
  const milliseconds = async (args: readonly string[]) => {
    const found = JSON.parse((await node(args)).stdout) as { ms: number; rows: number };
    if (found.rows !== MILLION) throw new Error(`${args[0]} read ${found.rows} rows`);
    return found.ms;
  };
  const load = await takeTurns(3, {
    ours: () => milliseconds([program('load-shift'), project.root, SHIFT]),
    csvParse: () => milliseconds([program('parse-csv'), table]),
  });
  const resumed = await killAndResume(project);
  const allowed = 3 * size + 150e6;
  return [
    {
      what: '1,000,000 rows: load and check',
      ours: ms(load.ours),
      other: `csv-parse: ${ms(load.csvParse)}`,
      ratio: load.ours / load.csvParse,
      target: atMost(0.5),
    },
    {
      what: '1,000,000 rows: memory of a run',
      ours: megabytes(resumed.peak),
      other: `3 x the file + 150 MB: ${megabytes(allowed)}`,
      ratio: resumed.peak / allowed,
      target: atMost(1),
    },
    {
      what: '1,000,000 rows: killed and started again, items done',
      ours: String(resumed.done),
      other: `items asked for: ${resumed.asked}`,
      ratio: resumed.done / resumed.asked,
      target: atLeast(1),
    },
  ];
}

/** `kill -9` when some items are done; the next start does the others. The most memory of both runs. */
async function killAndResume({ root, folder }: Project): Promise<{ peak: number; done: number; asked: number }> {
  const asked = 48;
  const file = join(root, 'peak');
  writeFileSync(file, '0');
  const args = [
    '--import',
    pathToFileURL(program('peak-memory')).href,
    NIGHTSHIFT,
    'start',
    SHIFT,
    '--json',
    '--rows',
    `1:${asked}`,
  ];
  const env = { PEAK_MEMORY_FILE: file };
  let first = 0;
  await node(args, {
    cwd: root,
    env,
    signal: 'SIGKILL',
    onOutput: (stdout, child) => {
      first = Math.max(first, readPeak(child.pid!));
      if (stdout.split('"to":"done"').length > asked / 4) child.kill('SIGKILL');
    },
  });
  await node(args, { cwd: root, env });
  const rows = readFileSync(join(folder, 'table.csv'), 'latin1')
    .slice(0, 1e6)
    .split('\n')
    .slice(1, asked + 1);
  const done = rows.filter((row) => row.endsWith(',done')).length;
  return { peak: Math.max(first, Number(readFileSync(file, 'utf8'))), done, asked };
}

/** A process that is killed can't tell its peak itself. */
function readPeak(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
