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
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import { answerCharts } from '../page/charts-answer.ts';
import { readStatus } from '../status.ts';
import { diffVersions } from '../steps.ts';
import type { World } from '../world.ts';
import { Excerpts } from './excerpts.ts';
import { readProvenance } from './provenance.ts';
import type { Report, ReportGroup, ReportRow, ReportTable } from './report.ts';

const EXAMPLES = 3;
const LONGEST_CELL = 300;

/** Reads everything for a report of the shift and its last run. Writes nothing. */
export async function collectReport(world: World, paths: ShiftPaths, version: string): Promise<Report> {
  const { status, limits } = await readStatus(paths, world);
  const opened = await openAndCheck(paths);
  const { history, account, charts } = await readRun(paths, status.lastRun?.run);
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

/** The history, and what happened in a run, from the file of the journal in which it began. */
async function readRun(
  paths: ShiftPaths,
  run: string | undefined,
): Promise<{ history: History; account: RunAccount | undefined; charts: Charts }> {
  const history = new History();
  const charts = new Charts();
  const account = run === undefined ? undefined : new RunAccount(run);
  const files = run === undefined ? [paths.journal] : filesOfRun(paths.journal, run);
  for (const file of files) {
    for await (const { value, isFirst } of readValues(file)) {
      if (isReadable(value)) {
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
