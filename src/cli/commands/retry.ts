import { EXIT, NightshiftError } from '../../core/errors.ts';
import type { CellEdit } from '../../core/events.ts';
import { type Again, limitsInForce, usedUp, usedUpText } from '../../core/limits.ts';
import { cellsAt, countEligible } from '../../core/plan.ts';
import { outputsByTask } from '../../formats/compile.ts';
import { type CellChange, editCells } from '../../formats/table.ts';
import { Identities } from '../../store/identities.ts';
import type { ShiftPaths } from '../../store/layout.ts';
import { refuseSecondRun } from '../../store/run-lock.ts';
import { changeTable } from '../../store/table-change.ts';
import { count } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { chooseShift } from '../choose-shift.ts';
import { commandAgain } from '../command-line.ts';
import { readHistory, spentBefore } from '../history.ts';
import type { Io } from '../io.ts';
import { limitFlagsIn, readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { refuseAgents } from '../refuse-agents.ts';
import { parseRows } from '../rows.ts';
import { planFolder } from '../run-shift.ts';
import { run as start } from './start.ts';

interface Failure {
  readonly row: number;
  readonly item: string;
  readonly task: string;
  readonly reason: string;
}

/** Whatever would refuse the start refuses it before anything is set back. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  refuseAgents(io);
  const { reason, task, agent, model, only, json } = options;
  const limits = readLimitFlags(options);
  const rows = options.rows === undefined ? undefined : parseRows(options.rows);
  const paths = await chooseShift(io, name);
  if (!options.dryRun) refuseSecondRun(paths.runLock, paths.name);
  const isPart = reason !== undefined || task !== undefined || rows !== undefined || only === true;
  const plan = await planFolder(paths, { agent, model, task, rows, limits }, io);
  const failures = await findFailures(paths, plan, reason);
  if (failures.length === 0 && isPart) {
    const message = `no failure of ${paths.name} is meant by that`;
    throw new NightshiftError(
      'nothing-to-do',
      message,
      `\`nightshift status ${paths.name}\` lists what failed, and why`,
    );
  }
  if (options.dryRun) {
    const others = isPart ? 0 : countEligible(plan.snapshot, plan.selection);
    return tell(io, { shift: paths.name, failures, others }, json);
  }
  const limit = await whyUsedUp(paths, plan, io.now(), commandAgain('retry', paths.name, options));
  if (limit !== undefined) {
    io.warn(`nothing was set back: ${limit}`);
    return EXIT.stopped;
  }
  const done = await setBack(paths, failures, await outputsOf(plan), io);
  if (!json) io.print(done === 0 ? 'nothing has failed' : `${count(done, 'item-task')} set back to todo`);
  const items = isPart ? new Set(failures.map(({ item }) => item)) : undefined;
  const chosen = { agent, model, task, rows: options.rows, items };
  return start(io, [paths.name], { json, plain: options.plain, ...chosen, ...limitFlagsIn(options) });
}

/** A run that ends at once would only have taken the reasons of the failures away. */
async function whyUsedUp(paths: ShiftPaths, { shift }: Plan, now: number, again: Again): Promise<string | undefined> {
  const limits = limitsInForce(shift.settings.limits, false, now);
  const reached = usedUp(limits, await spentBefore(paths), now, again);
  return reached && usedUpText(reached);
}

type Plan = Awaited<ReturnType<typeof planFolder>>;

async function findFailures(
  paths: ShiftPaths,
  { snapshot, selection }: Plan,
  wanted: string | undefined,
): Promise<Failure[]> {
  const history = await readHistory(paths);
  const failures = cellsAt(snapshot, 'failed', selection).map(({ row, task }) => {
    const item = snapshot.id(row);
    return { row: row + 1, item, task, reason: history.of(task, item)?.failure ?? '' };
  });
  if (wanted === undefined) return failures;
  return failures.filter(({ reason }) => reason.toLowerCase().includes(wanted.toLowerCase()));
}

async function outputsOf({ files }: Plan): Promise<Set<string>> {
  const documents = await files.read();
  return new Set([...documents.tasks.map(({ name }) => name), ...[...outputsByTask(documents).values()].flat()]);
}

/** What is still failed of them, in one write. */
async function setBack(
  paths: ShiftPaths,
  failures: readonly Failure[],
  statusAndOutputs: ReadonlySet<string>,
  io: Io,
): Promise<number> {
  const wanted = new Set(failures.map(({ item, task }) => `${task} ${item}`));
  const tasks = [...new Set(failures.map(({ task }) => task))];
  return changeTable(
    paths,
    (table) => {
      const identities = new Identities(table, statusAndOutputs);
      const changes: CellChange[] = [];
      const edits: CellEdit[] = [];
      for (const task of tasks) {
        const column = table.columnOf(task);
        for (let row = 0; column >= 0 && row < table.rowCount; row++) {
          if (table.cell(row, column) !== 'failed') continue;
          const item = identities.id(row);
          if (!wanted.has(`${task} ${item}`)) continue;
          changes.push({ row, column, value: 'todo' });
          edits.push({ item, column: task, from: 'failed', to: 'todo' });
        }
      }
      return { table: editCells(table, changes), answer: changes.length, edits };
    },
    io.now,
  );
}

interface Found {
  readonly shift: string;
  readonly failures: readonly Failure[];
  /** Item-tasks that could be begun besides. */
  readonly others: number;
}

function tell(io: Io, found: Found, json: boolean | undefined): number {
  if (json) {
    io.print(JSON.stringify(found));
    return EXIT.done;
  }
  const { failures, others } = found;
  for (const { row, task, reason } of failures)
    io.print(`row ${row} ${task}: ${oneLine(reason) || 'no reason recorded'}`);
  const besides = others === 0 ? '' : ` ${count(others, 'other')} would be run too; --only leaves them.`;
  const back = `${count(failures.length, 'item-task')} would be set back to todo.`;
  io.print(`${back}${besides} Nothing was written, no agent was started.`);
  return EXIT.done;
}
