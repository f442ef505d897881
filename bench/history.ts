import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { atMost, type Section } from './figure.ts';
import { megabytes, ms, NIGHTSHIFT, node, program, takeTurns, timed } from './measure.ts';
import { Project, SHIFT, STREAM, TASK } from './project.ts';

const ITEMS = 20_000;
const ALLOWED_BYTES = 60e6;
const REASON = 'a line of a stack trace, as programs print them\n'.repeat(21).slice(0, 1000);

/** What a long history costs: memory is bounded by items, time does not grow with what was said. */
export async function history(): Promise<Section> {
  using small = historyOf(1000, 10e6);
  using large = historyOf(1000, 1e9);
  // The first start continues each journal in a new file.
  for (const { root } of [small, large]) await node([NIGHTSHIFT, 'start', SHIFT, '--rows', '1:1'], { cwd: root });
  let row = 1;
  const start = ({ root }: Project) => {
    // Every second row has failed.
    row += 2;
    return timed(() => node([NIGHTSHIFT, 'start', SHIFT, '--rows', `${row}:${row}`], { cwd: root }));
  };
  const status = ({ root }: Project) => timed(() => node([NIGHTSHIFT, 'status', SHIFT], { cwd: root }));
  const taken = await takeTurns(5, {
    ...{ smallStatus: () => status(small), largeStatus: () => status(large) },
    ...{ smallStart: () => start(small), largeStart: () => start(large) },
  });
  const memory = await memoryOfStatus();
  return {
    title: 'History',
    figures: [
      {
        what: '`status` after 1 GB of history',
        ours: ms(taken.largeStatus),
        other: `after 10 MB: ${ms(taken.smallStatus)}`,
        ratio: taken.largeStatus / taken.smallStatus,
        target: atMost(2),
      },
      {
        what: '`start` of one item after 1 GB of history',
        ours: ms(taken.largeStart),
        other: `after 10 MB: ${ms(taken.smallStart)}`,
        ratio: taken.largeStart / taken.smallStart,
        target: atMost(2),
      },
      {
        what: '`status`: memory for 20,000 items, 3 attempts each, reasons of 1 KB',
        ours: megabytes(memory),
        other: `allowed: ${megabytes(ALLOWED_BYTES)}`,
        ratio: memory / ALLOWED_BYTES,
        target: atMost(1),
      },
    ],
  };
}

/** Beyond what `status` takes where nothing has happened yet. */
async function memoryOfStatus(): Promise<number> {
  using empty = historyOf(ITEMS, 0);
  using full = historyOf(ITEMS, Number.POSITIVE_INFINITY);
  const peak = async ({ root }: Project) => {
    const file = join(root, 'peak');
    const args = ['--import', pathToFileURL(program('peak-memory')).href, NIGHTSHIFT, 'status', SHIFT];
    await node(args, { cwd: root, env: { PEAK_MEMORY_FILE: file } });
    return Number(readFileSync(file, 'utf8'));
  };
  const taken = await takeTurns(3, { empty: () => peak(empty), full: () => peak(full) });
  return taken.full - taken.empty;
}

/** A shift whose journal has so many bytes; without a limit, as many as one round over all items takes. */
function historyOf(items: number, bytes: number): Project {
  const rows = Array.from({ length: items }, (_, row) => `item-${row},${row % 2 === 0 ? 'todo' : 'failed'}\n`);
  const project = new Project({ settings: STREAM, table: `name,${TASK}\n${rows.join('')}`, step: 'true' });
  if (bytes === 0) return project;
  const engine = join(project.folder, '.engine');
  mkdirSync(engine, { mode: 0o700 });
  const fd = openSync(join(engine, 'journal.jsonl'), 'w', 0o600);
  let written = 0;
  for (let round = 0; written < bytes; round++) {
    for (let row = 0; row < items && written < bytes; row++) written += writeSync(fd, roundOf(round, row));
    if (bytes === Number.POSITIVE_INFINITY) break;
  }
  closeSync(fd);
  return project;
}

/** What a run tells of one item that needs three attempts, or fails. */
function roundOf(round: number, row: number): string {
  const isFailed = row % 2 === 1;
  const common = { at: '2026-01-02T03:04:05.678Z', run: `r${round}`, seq: row, shift: SHIFT, task: TASK };
  const subject = { ...common, index: row, item: `${row.toString(16).padStart(16, '0')}.0` };
  const key = 'k'.repeat(32);
  const reason = `row ${row}: ${REASON}`;
  const usage = { inputTokens: 1000, outputTokens: 100, costUsd: 0.0001 };
  const events: object[] = [
    ...(row === 0 ? [{ type: 'run:started', ...common, total: 1, tasks: [TASK], counts: [], limits: {} }] : []),
    { type: 'dev:started', ...subject, agent: 'shell', key, version: 'v' },
    ...[1, 2, 3].flatMap((attempt) => [
      { type: 'usage:spent', ...subject, attempt, role: 'dev', agent: 'shell', usage },
      { type: 'attempt:finished', ...subject, attempt, status: 'FAILED (step 1)', reason },
    ]),
    {
      ...{
        type: 'dev:finished',
        ...subject,
        status: isFailed ? 'FAILED (step 1)' : 'SUCCESS',
        attempts: 3,
        ms: 1234,
        key,
      },
      ...{ captured: { words: String(row) }, ...(isFailed ? { reason } : {}) },
      recommendations: [`Row ${row} recommends that you look for the dictionary first, and say which dialect it is.`],
    },
    { type: 'item:recorded', ...subject, from: 'in_progress', to: isFailed ? 'failed' : 'done' },
  ];
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}
