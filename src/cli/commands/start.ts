import { randomBytes } from 'node:crypto';
import { readHistory, spentIn } from '../../app/history.ts';
import { nextAfterLastRun, nextOfRequest } from '../../app/next-command.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { parseRows } from '../../app/rows.ts';
import { overridesIn, planRun, type RunSettings } from '../../app/run/plan-run.ts';
import { runFolder } from '../../app/run/run-shift.ts';
import { unprotectedFiles, unprotectedLine } from '../../app/run/unprotected-files.ts';
import { parseConditions, parseSample } from '../../app/select-rows.ts';
import type { History } from '../../core/folds/history.ts';
import { summarise } from '../../core/folds/summary.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Usage } from '../../core/model/model.ts';
import { startSize } from '../../core/schedule/dispatch.ts';
import { limitsInForce, limitTexts, usedUp } from '../../core/schedule/limits.ts';
import { isAll } from '../../core/schedule/part.ts';
import { cellsAt, countEligible, countItems, nextBatch } from '../../core/schedule/plan.ts';
import type { RunEnd } from '../../engine/ports.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { nextLine } from '../../views/next-line.ts';
import { count, rowList, share } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { putBackLines, summaryLines, usageText } from '../../views/summary.ts';
import { requireLimit } from '../ask-limit.ts';
import { chooseShift } from '../choose-shift.ts';
import { requestOf } from '../command-line.ts';
import { detach } from '../detach.ts';
import { viewEvents } from '../event-view.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

/** What was asked, and how to ask for it again. */
type Repeatable = RunSettings & Required<Pick<RunSettings, 'request'>>;

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const limits = readLimitFlags(options);
  const rows = options.rows === undefined ? undefined : parseRows(options.rows);
  const paths = await chooseShift(io, name);
  const chosen = parseSample(options.sample, options.seed, () => randomBytes(4).toString('hex'));
  const where = parseConditions(options.where);
  const { agent, model, task, from } = options;
  const again = { ...options, seed: chosen?.seed };
  const request = options.request ?? requestOf('start', again);
  const asked: Repeatable = { agent, model, limits, task, rows, where, sample: chosen, from, request };
  if (chosen && options.seed === undefined) io.warn(`sample: --seed ${chosen.seed} makes the same choice again`);
  if (options.dryRun) return dryRun(io, paths, asked, options.json);

  if (!options.json) await requireLimit(io, paths, asked);
  const detached = options.detach ? await detach(io, paths, asked, again) : undefined;
  if (detached !== undefined) return detached;

  const end = await runInView(io, paths, asked, options);
  const { exitCode, reason } = end;
  if (options.json) return exitCode;
  const lines = await closing(io, paths, end, asked).catch((error: unknown) => {
    // What stopped the run may be that the shift can't be read any more.
    if (exitCode === EXIT.stopped || exitCode === EXIT.interrupted) return [`stopped: ${reason}`];
    throw error;
  });
  for (const line of lines) io.print(line);
  return exitCode;
}

/** The view is gone before anything else is printed, also when the run throws. */
async function runInView(
  io: Io,
  paths: ShiftPaths,
  asked: RunSettings,
  options: Options,
): ReturnType<typeof runFolder> {
  using view = viewEvents(io, options);
  const looking = { onEvent: view.event.bind(view), onTranscript: view.heard.bind(view) };
  return await runFolder(paths, { ...asked, ...looking, openStop: () => new StopSignals() }, io);
}

/** Rule M7: what a person reads in the morning. */
async function closing(
  io: Io,
  paths: ShiftPaths,
  end: RunEnd & { readonly ms: number },
  asked: RunSettings,
): Promise<string[]> {
  const now = io.now();
  const { exitCode, reason, alreadyComplete } = end;
  const { shift, snapshot } = await openAndCheck(paths, overridesIn(asked));
  const history = await readHistory(paths, io);
  const summary = summarise(snapshot, history);
  const { total, completed } = summary.counts;
  if (alreadyComplete) {
    return ['Already complete: nothing was left to do.', archiveHint(paths.name)];
  }
  const { limits } = shift.settings;
  const next = nextAfterLastRun({ shift: paths.name, history, limits, counts: summary.counts, now });
  const hasFinished = exitCode === EXIT.done || exitCode === EXIT.failedItems;
  return [
    '',
    ...summaryLines(paths.name, summary),
    ...putBackLines(paths.name, history.lastRun?.edits ?? []),
    ...spentLines(history, end.ms),
    ...(completed === total ? ['All done.', archiveHint(paths.name)] : []),
    ...(hasFinished
      ? next
        ? [`${nextLine(next)}.`]
        : []
      : [`stopped: ${reason}.${next ? ` ${nextLine(next)}.` : ''}`]),
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
  const { shift, snapshot, selection, hasModel } = await planRun(paths, asked, io);
  const unprotected = (await unprotectedFiles(io, paths, { shift, snapshot })).map(unprotectedLine);
  for (const warning of [...shift.warnings, ...unprotected]) io.warn(`warning: ${oneLine(warning)}`);
  const { parallel } = shift.settings;
  const size = parallel ? startSize(shift.settings) : 1;
  const batch = nextBatch(snapshot, { parallel, size }, selection);
  const limits = limitsInForce(shift.settings.limits, hasModel, io.now());
  const history = await readHistory(paths, io);
  const spent = spentIn(history);
  const left = {
    eligible: countEligible(snapshot, selection),
    atQa: cellsAt(snapshot, 'qa', selection).length,
    inProgress: cellsAt(snapshot, 'in_progress').length,
  };
  const isLeft = left.eligible + left.atQa + left.inProgress > 0;
  const reached = isLeft ? usedUp(limits, spent, io.now()) : undefined;
  const next = nextOfRequest(shift.name, asked.request, shift.settings.limits, { history, now: io.now() });
  const items = { chosen: countItems(snapshot, selection.includes).total, all: snapshot.count };
  const plan = {
    shift: shift.name,
    items,
    ...left,
    first: batch && { task: batch.task, indices: batch.rows, size },
    limits,
    spent,
    usedUp: reached?.text ?? null,
    next: next.command,
  };
  if (json) {
    io.print(JSON.stringify(plan));
    return EXIT.done;
  }
  const limited = limitTexts(limits, spent, hasModel);
  if (!isAll(items)) io.print(`${share(items, 'item')} chosen`);
  if (limited.length > 0) io.print(`limits: ${limited.join(', ')}`);
  if (plan.inProgress > 0) io.print(`${count(plan.inProgress, 'item')} in progress would go back to todo first`);
  if (plan.usedUp !== null) {
    io.print(`nothing would start, and the exit code would be ${EXIT.stopped}: ${plan.usedUp}; ${nextLine(next)}`);
  } else {
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
