import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDetails, readHistory } from '../../app/history.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { runFolder } from '../../app/run/run-shift.ts';
import type { History } from '../../core/folds/history.ts';
import { summarise } from '../../core/folds/summary.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { shellWord } from '../../core/schedule/run-request.ts';
import { diskError } from '../../store/folder/files/atomic-write.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { createShift } from '../../store/folder/new-shift.ts';
import { createTaskFile } from '../../store/folder/new-task.ts';
import type { Snapshot } from '../../store/store.ts';
import { count, plainLines } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { summaryLines } from '../../views/summary.ts';
import { NOTES, UNFINISHED } from '../demo/notes.ts';
import { SHIFT, SITE, TASKS } from '../demo/shift.ts';
import { programSpelling, shorter } from '../demo/spelling.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

const FOLDER = 'nightshift-demo';
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** Makes a small project and runs its shift, with the code that `create`, `add-task` and `start` use. */
export async function run(io: Io, [dir]: readonly string[], { json }: Options): Promise<number> {
  const root = await makeFolder(dir === undefined ? freeFolder(io.cwd) : resolve(io.cwd, dir));
  const paths = await makeProject(root, io);
  const shown = shorter(root, await realpath(io.cwd));
  if (!json) {
    io.print(`${shown}: ${NOTES.length} notes, and a shift that makes a web page of each.`);
    io.print('One note is unfinished on purpose, so that you see what a failure looks like.');
    io.print('');
  }
  const { exitCode, reason } = await runFolder(
    paths,
    {
      openStop: () => new StopSignals(),
      onEvent: (event) => {
        if (json) io.print(JSON.stringify(event));
        else for (const line of plainLines(event)) io.print(line);
      },
    },
    io,
  );
  return close(io, paths, shown, { exitCode, reason, json });
}

/** Run again without a name, it makes a second one: an earlier demo may hold what somebody tried in it. */
function freeFolder(cwd: string): string {
  for (let number = 1; ; number++) {
    const folder = resolve(cwd, number === 1 ? FOLDER : `${FOLDER}-${number}`);
    if (!existsSync(folder)) return folder;
  }
}

/** The folder, new or empty: what somebody has in theirs stays as it is. */
async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    const present = await readdir(folder);
    if (present.length === 0) return await realpath(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      const hint = 'name a folder that is new or empty: `nightshift demo DIR`';
      throw new NightshiftError('usage', `${folder} can't be a folder: there is a file in the way`, hint);
    }
    throw diskError(cause, folder);
  }
  const hint = 'name one that is new or empty (`nightshift demo DIR`), or remove it if it is an earlier demo';
  throw new NightshiftError('usage', `${folder} is not empty`, hint);
}

async function makeProject(root: string, io: Io): Promise<ShiftPaths> {
  const items = join(root, 'notes.csv');
  try {
    for (const folder of ['notes', 'site']) await mkdir(join(root, folder));
    for (const { name, text } of NOTES) await writeFile(join(root, 'notes', `${name}.md`), text);
    for (const [name, text] of Object.entries(SITE)) await writeFile(join(root, 'site', name), text);
    await writeFile(items, ['note,about', ...NOTES.map(({ name, about }) => `${name},${about}`), ''].join('\n'));
  } catch (cause) {
    throw diskError(cause, root);
  }
  const created = new Date(io.now()).toISOString().slice(0, 10);
  const paths = await createShift(root, {
    name: SHIFT,
    created,
    parallel: true,
    settings: { agent: 'shell' },
    from: items,
  });
  for (const [task, text] of Object.entries(TASKS)) await createTaskFile(paths, task, text, io.now);
  return paths;
}

interface End {
  readonly exitCode: number;
  readonly reason: string;
  readonly json: boolean;
}

/** The failure that is there on purpose is no failure of the demo; anything else keeps its exit code. */
async function close(io: Io, paths: ShiftPaths, shown: string, { exitCode, reason, json }: End): Promise<number> {
  const { snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths, io);
  const summary = summarise(snapshot, history);
  const row = NOTES.findIndex(({ name }) => name === UNFINISHED.name) + 1;
  const failed = summary.failures.flatMap(({ reason: why, items }) => items.map((item) => ({ ...item, why })));
  const asMeant =
    exitCode === EXIT.failedItems &&
    failed.length === 1 &&
    failed[0]!.row === row &&
    summary.counts.completed === NOTES.length - 1;
  if (json) return asMeant ? EXIT.done : exitCode;

  const nightshift = programSpelling(MAIN, paths.root, io.env);
  const lines = asMeant
    ? [
        ...madeLines(shown, summary.counts.completed),
        ...(await repairedLines(paths, snapshot, history)),
        `Failed, as it should: row ${row} (${UNFINISHED.name}), after ${count(failed[0]!.attempts, 'attempt')}:`,
        `  ${oneLine(failed[0]!.why)}`,
        ...nextLines(shown, row, nightshift),
      ]
    : [
        ...summaryLines(SHIFT, summary),
        `The demo did not end as it should: ${oneLine(reason)}.`,
        `To go on: cd ${shellWord(shown)} && ${nightshift} start`,
      ];
  for (const line of ['', ...lines]) io.print(line);
  return asMeant ? EXIT.done : exitCode;
}

function madeLines(shown: string, pages: number): string[] {
  return [
    `Made: ${count(pages, 'page')} (open the index in a browser), the table, the task files:`,
    `  ${join(shown, 'site', 'index.html')}`,
    `  ${join(shown, '.nightshift', SHIFT, 'table.csv')}`,
    ...Object.keys(TASKS).map((task) => `  ${join(shown, '.nightshift', SHIFT, `${task}.md`)}`),
  ];
}

/** What did not pass at once. */
async function repairedLines(paths: ShiftPaths, snapshot: Snapshot, history: History): Promise<string[]> {
  const lines: string[] = [];
  for (const task of snapshot.tasks) {
    for (const [index, { name }] of NOTES.entries()) {
      const item = snapshot.id(index);
      const dev = history.of(task, item)?.dev;
      if (dev?.status !== 'SUCCESS' || dev.attempts === 1) continue;
      const { attempts = [] } = (await readDetails(paths, item, [task], history)).get(task) ?? {};
      const reasons = attempts.flatMap(({ reason }) => (reason === undefined ? [] : [`  ${oneLine(reason)}`]));
      lines.push(`Passed at attempt ${dev.attempts}: row ${index + 1} (${name}). Before that:`, ...reasons);
    }
  }
  return lines;
}

/** Commands that work when they are pasted, in this order, where the user is. */
function nextLines(shown: string, row: number, nightshift: string): string[] {
  const { name, title } = UNFINISHED;
  return [
    '',
    'Try next (the third finishes the note, and runs what failed again):',
    `  cd ${shellWord(shown)}`,
    `  ${nightshift} status`,
    `  ${nightshift} show ${SHIFT} ${row}`,
    `  printf '# ${title}\\n\\nIda said yes.\\n' > notes/${name}.md &&`,
    `    ${nightshift} table ${SHIFT} reset --failed &&`,
    `    ${nightshift} start`,
  ];
}
