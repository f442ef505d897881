import { randomBytes } from 'node:crypto';
import { startSize } from '../../core/dispatch.ts';
import { formatDuration } from '../../core/duration.ts';
import { EXIT } from '../../core/errors.ts';
import type { History } from '../../core/history.ts';
import { limitsInForce, limitTexts, usedUp, usedUpText } from '../../core/limits.ts';
import type { Usage } from '../../core/model.ts';
import { isAll } from '../../core/part.ts';
import { cellsAt, countEligible, countItems, nextBatch } from '../../core/plan.ts';
import { summarise } from '../../core/summary.ts';
import type { RunEnd } from '../../engine/run-state.ts';
import type { ShiftPaths } from '../../store/layout.ts';
import { count, rowList, share } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { summaryLines, usageText } from '../../views/summary.ts';
import { chooseShift } from '../choose-shift.ts';
import { commandAgain, howToGoOn, lastingFlags, retryLine } from '../command-line.ts';
import { detach } from '../detach.ts';
import { viewEvents } from '../event-view.ts';
import { readHistory, spentBefore, spentIn } from '../history.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import { openAndCheck } from '../open-shift.ts';
import type { Options } from '../program.ts';
import { parseRows } from '../rows.ts';
import { type Asked, overridesIn, planFolder, runFolder } from '../run-shift.ts';
import { parseConditions, parseSample } from '../select-rows.ts';

/** What was asked, and how to ask for it again. */
type Repeatable = Asked & Required<Pick<Asked, 'again' | 'flags'>>;

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const limits = readLimitFlags(options);
  const rows = options.rows === undefined ? undefined : parseRows(options.rows);
  const paths = await chooseShift(io, name);
  const chosen = parseSample(options.sample, options.seed, () => randomBytes(4).toString('hex'));
  const where = parseConditions(options.where);
  const { agent, model, task, items } = options;
  const again = { ...options, seed: chosen?.seed };
  const asked: Repeatable = {
    ...{ agent, model, limits, task, rows, where, sample: chosen, items },
    again: commandAgain('start', paths.name, again),
    flags: lastingFlags(again),
  };
  if (chosen && options.seed === undefined) io.warn(`sample: --seed ${chosen.seed} makes the same choice again`);
  if (options.dryRun) return dryRun(io, paths, asked, options.json);

  const detached = options.detach ? await detach(io, paths, asked, again) : undefined;
  if (detached !== undefined) return detached;

  const started = io.now();
  const end = await runInView(io, paths, asked, options);
  const { exitCode, reason } = end;
  if (options.json) return exitCode;
  const lines = await closing(paths, end, asked, { ms: io.now() - started, now: io.now() }).catch((error: unknown) => {
    // What stopped the run may be that the shift can't be read any more.
    if (exitCode === EXIT.stopped) return [`stopped: ${reason}`];
    throw error;
  });
  for (const line of lines) io.print(line);
  return exitCode;
}

/** The view is gone before anything else is printed, also when the run throws. */
async function runInView(io: Io, paths: ShiftPaths, asked: Asked, options: Options): Promise<RunEnd> {
  using view = viewEvents(io, options);
  return await runFolder(paths, { ...asked, onEvent: view.event.bind(view), onTranscript: view.heard.bind(view) }, io);
}

/** Rule M7: what a person reads in the morning. */
async function closing(
  paths: ShiftPaths,
  end: RunEnd,
  asked: Repeatable,
  { ms, now }: { ms: number; now: number },
): Promise<string[]> {
  const { exitCode, reason, isLimit } = end;
  const { shift, snapshot } = await openAndCheck(paths, overridesIn(asked));
  const history = await readHistory(paths);
  const summary = summarise(snapshot, history);
  const { total, completed, failed, remaining } = summary.counts;
  if (reason === 'already complete') {
    return ['Already complete: nothing was left to do.', archiveHint(paths.name)];
  }
  // Then it would be refused.
  const limits = limitsInForce(shift.settings.limits, false, now);
  const isUsedUp = usedUp(limits, spentIn(history), now, asked.again) !== undefined;
  return [
    '',
    ...summaryLines(paths.name, summary),
    ...spentLines(history, ms),
    ...(exitCode === EXIT.done || exitCode === EXIT.failedItems
      ? []
      : [`stopped: ${reason}.${isLimit ? '' : ` ${howToGoOn(paths.name, asked.flags)}.`}`]),
    ...(completed === total ? ['All done.', archiveHint(paths.name)] : []),
    ...(failed > 0 && !isUsedUp
      ? [`\`${retryLine(paths.name, asked.flags, remaining > 0)}\` tries the failed ones again.`]
      : []),
  ];
}

/** Of this run; and of all runs, if there were others. */
function spentLines({ lastRun, usage, tally }: History, ms: number): string[] {
  const line = (what: string, time: number, spent: Usage) =>
    [`${what}: ${formatDuration(time)}`, usageText(spent)].filter((part) => part !== undefined).join(', ');
  const run = line('this run', ms, lastRun?.usage ?? {});
  return lastRun?.number === 1 ? [run] : [run, line('the shift', tally.ms, usage)];
}

async function dryRun(io: Io, paths: ShiftPaths, asked: Repeatable, json: boolean): Promise<number> {
  const { shift, snapshot, selection, hasModel } = await planFolder(paths, asked, io);
  for (const warning of shift.warnings) io.warn(`warning: ${oneLine(warning)}`);
  const { parallel } = shift.settings;
  const size = parallel ? startSize(shift.settings) : 1;
  const batch = nextBatch(snapshot, { parallel, size }, selection);
  const limits = limitsInForce(shift.settings.limits, hasModel, io.now());
  const spent = await spentBefore(paths);
  const left = {
    eligible: countEligible(snapshot, selection),
    atQa: cellsAt(snapshot, 'qa', selection).length,
    inProgress: cellsAt(snapshot, 'in_progress').length,
  };
  const isLeft = left.eligible + left.atQa + left.inProgress > 0;
  const reached = isLeft ? usedUp(limits, spent, io.now(), asked.again) : undefined;
  const items = { chosen: countItems(snapshot, selection.includes).total, all: snapshot.count };
  const plan = {
    shift: shift.name,
    items,
    ...left,
    first: batch && { task: batch.task, indices: batch.rows, size },
    limits,
    spent,
    usedUp: reached ? usedUpText(reached) : null,
  };
  if (json) {
    io.print(JSON.stringify(plan));
    return EXIT.done;
  }
  const limited = limitTexts(limits, spent, hasModel);
  if (!isAll(items)) io.print(`${share(items, 'item')} chosen`);
  if (limited.length > 0) io.print(`limits: ${limited.join(', ')}`);
  if (plan.inProgress > 0) io.print(`${count(plan.inProgress, 'item')} in progress would go back to todo first`);
  if (plan.usedUp !== null) io.print(`nothing would be begun, and the exit code be ${EXIT.stopped}: ${plan.usedUp}`);
  else {
    if (plan.atQa > 0) io.print(`${count(plan.atQa, 'item')} at qa would be judged first`);
    io.print(`${count(plan.eligible, 'item-task')} can be dispatched now`);
    if (batch) io.print(`first: ${batch.task}, ${rowList(batch.rows)}`);
  }
  io.print('Nothing was written and no agent was started.');
  return EXIT.done;
}

function archiveHint(name: string): string {
  return `\`nightshift archive ${name}\` puts the shift away.`;
}
