import { Charts } from '../../core/folds/charts.ts';
import { History } from '../../core/folds/history.ts';
import { resultsByRow } from '../../core/folds/results.ts';
import { RunAccount } from '../../core/folds/run-account.ts';
import { isReadable } from '../../core/model/event-shape.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import { createMask } from '../../core/text/mask.ts';
import { oneLine } from '../../core/text/printable.ts';
import { filesOfRun, readValues } from '../../store/folder/journal/journal-reader.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { countLedger } from '../history.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { answerCharts } from '../page/charts-answer.ts';
import { currentRun } from '../run/follow-run.ts';
import { describeWhole } from '../status.ts';
import { diffVersions } from '../steps.ts';
import type { World } from '../world.ts';
import { Excerpts } from './excerpts.ts';
import { readProvenance } from './provenance.ts';
import type { Report, ReportGroup, ReportRow, ReportTable } from './report.ts';

const EXAMPLES = 3;
const LONGEST_CELL = 300;

/** Reads everything for a report of the shift and its last run. Writes nothing. */
export async function collectReport(world: World, paths: ShiftPaths, version: string): Promise<Report> {
  // Before the table: if no run holds the lock, the table that is read next has all its results.
  const holder = currentRun(paths);
  const opened = await openAndCheck(paths);
  const { history, account, charts } = await readJournal(paths, world);
  const { status, limits } = await describeWhole({ ...opened, paths, holder, history }, world.now());
  const excerpts = await Excerpts.read(paths, opened, history);
  return {
    at: world.now(),
    status,
    limits,
    account,
    ...turnsOf(account, status.lastRun?.number),
    groups: status.failures.map((group): ReportGroup => {
      const examples = group.items.slice(0, EXAMPLES).map((item) => excerpts.of(group.task, item));
      return { ...group, examples };
    }),
    steps: await diffSteps(paths, account),
    charts: await answerCharts({ snapshot: opened.snapshot, history, isPartial: false }, charts, false),
    table: tableOf(opened, history, excerpts),
    provenance: await readProvenance(paths, { version, account, tasks: opened.snapshot.tasks }),
  };
}

interface ReadJournal {
  readonly history: History;
  /** Of the last run; undefined if there was none. */
  readonly account: RunAccount | undefined;
  readonly charts: Charts;
}

/** Reads the journal once, unless it was continued in another file during the last run. */
async function readJournal(paths: ShiftPaths, world: World): Promise<ReadJournal> {
  const current = await readFiles([paths.journal]);
  const run = current.history.lastRun?.run;
  const files = run === undefined ? [] : filesOfRun(paths.journal, run);
  const isWhole = files.length === 1 && current.account?.run === run;
  const read = run === undefined ? { ...current, account: undefined } : isWhole ? current : await readFiles(files, run);
  countLedger(read.history, paths, world);
  return read;
}

/** `run`: whose account is wanted; without it, that of the last one in these files. */
async function readFiles(files: readonly string[], run?: string): Promise<ReadJournal> {
  const history = new History();
  const charts = new Charts();
  let account = run === undefined ? undefined : new RunAccount(run);
  for (const file of files) {
    for await (const { value, isFirst } of readValues(file)) {
      if (isReadable(value)) {
        const isNext = run === undefined && value.run !== '' && value.run !== account?.run;
        if (isNext) account = new RunAccount(value.run);
        account?.add(value, history);
        charts.add(value);
      }
      history.read(value, isFirst && file === files[0]);
    }
  }
  return { history, account, charts };
}

/** In a first run, everything that fails is new: that says nothing. */
function turnsOf(account: RunAccount | undefined, number = 1): Pick<Report, 'newlyFailing' | 'passingAgain'> {
  if (!account || number === 1) return { newlyFailing: [], passingAgain: [] };
  const { newlyFailing, passingAgain } = account;
  return { newlyFailing: [...newlyFailing.values()], passingAgain: [...passingAgain.values()] };
}

/** What the run changed in the Steps, as far as both versions are kept. */
async function diffSteps(paths: ShiftPaths, account: RunAccount | undefined): Promise<Report['steps']> {
  const diffs = (account?.steps ?? []).map(async ({ task, from, to }) => ({
    task,
    lines: await diffVersions(paths, task, { from, to }),
  }));
  return await Promise.all(diffs);
}

function tableOf({ shift, snapshot }: OpenShift, history: History, excerpts: Excerpts): ReportTable {
  const labelOf = RowLabels.in(shift, snapshot);
  const columns = snapshot.header.filter((column) => !snapshot.tasks.includes(column));
  const mask = createMask(shift.secrets);
  const rows = function* (): Generator<ReportRow> {
    if (snapshot.tasks.length === 0) return;
    for (const results of resultsByRow(snapshot, history)) {
      const { row, item, metadata } = results[0]!;
      const cells = columns.map((column) => oneLine(mask.text(metadata[column] ?? ''), LONGEST_CELL));
      yield { row, label: labelOf(row - 1), cells, results, output: excerpts.outputOf(item) };
    }
  };
  return { columns, tasks: snapshot.tasks, count: snapshot.tasks.length === 0 ? 0 : snapshot.count, rows };
}
