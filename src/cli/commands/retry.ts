import {
  limitReached,
  planRetry,
  type RetryPlan,
  type RetrySettings,
  refuseWhileRunning,
  resetFailures,
  retrySelection,
} from '../../app/retry.ts';
import { EXIT } from '../../core/model/errors.ts';
import { parseRows } from '../../core/schedule/selection.ts';
import { count } from '../../core/text/count.ts';
import { nextLine } from '../../views/next-line.ts';
import { nothingFailedLine, retryPlanLines } from '../../views/retry.ts';
import { resetLine } from '../../views/table.ts';
import { requireLimit } from '../ask-limit.ts';
import { chooseShift } from '../choose-shift.ts';
import { partFlags, requestOf } from '../command-line.ts';
import { detach } from '../detach.ts';
import { type FleetOfRun, openFleetOfRun } from '../fleet-of-run.ts';
import type { Io } from '../io.ts';
import { limitFlagsIn, readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { run as start } from './start.ts';

/** Retries failed items. What would refuse the start refuses it before anything is reset. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { agent, model, all, json } = options;
  const paths = await chooseShift(io, name);
  await using fleet = await openFleetOfRun(io, paths, options);
  const settings = readSettings(options, fleet);
  if (!options.dryRun) refuseWhileRunning(paths);
  const plan = await planRetry(paths, settings, io);
  if (plan.failures.length + plan.left.size === 0 && !all) {
    io.print(nothingFailedLine(paths.name, plan.others));
    return EXIT.done;
  }
  if (options.dryRun) return printPlan(io, paths.name, plan, options);
  const requested = requestOf('retry', { ...options, ...fleet.again });
  const reached = limitReached(plan, requested, io.now());
  if (reached) {
    // A run that ends at once would only erase the reasons of the failures.
    io.warn(`nothing was reset: ${reached.text}; ${nextLine(reached.next)}`);
    return EXIT.stopped;
  }
  if (!json) await requireLimit(io, paths, { ...settings, toRetry: plan.failures.length });
  if (options.detach) {
    if (!json) io.print(`${count(plan.failures.length, 'failed item-task')} to retry`);
    const again = { ...options, ...fleet.again, command: 'retry' };
    const code = await detach({ ...io, cwd: paths.root, env: fleet.env }, paths, settings, again);
    return code ?? EXIT.done;
  }
  const reset = await resetFailures(paths, plan, settings, io);
  if (!json) io.print(reset.reset === 0 ? 'nothing has failed' : resetLine(reset));
  // What `--all` leaves is continued by a start, which resets nothing.
  const limits = limitFlagsIn(options);
  const request = all ? requestOf('start', { agent, model, ...fleet.again, ...limits }) : requested;
  const { items } = retrySelection(plan, settings);
  const { plain, view, withoutFleet } = options;
  const shown = { json, plain, view };
  return await start(io, [paths.name], { ...shown, agent, model, items, request, fleet, withoutFleet, ...limits });
}

function readSettings(options: Options, { fleet, again }: FleetOfRun): RetrySettings {
  const { reason, task, rows, agent, model, all, keepLater, withoutFleet } = options;
  if (rows !== undefined) parseRows(rows);
  return {
    reason,
    task,
    rows,
    agent,
    model,
    all,
    keepLater,
    fleet,
    withoutFleet,
    limits: readLimitFlags(options),
    flags: partFlags({ ...options, ...again }),
  };
}

function printPlan(io: Io, shift: string, { failures, left, others }: RetryPlan, { all, json }: Options): number {
  const found = { failures, left: left.size, others: all ? others : 0 };
  if (json) io.print(JSON.stringify({ shift, ...found }));
  else for (const line of retryPlanLines(found)) io.print(line);
  return EXIT.done;
}
