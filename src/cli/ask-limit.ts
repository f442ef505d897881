import { planRun, type RunSettings } from '../app/run/plan-run.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { isBounded, isLimitValue, type SetLimits } from '../core/schedule/limits.ts';
import { cellsAt, countEligible } from '../core/schedule/plan.ts';
import { readShiftSettings } from '../formats/manager.ts';
import { ShiftFiles } from '../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { refuseSecondRun } from '../store/folder/run-lock.ts';
import type { Io } from './io.ts';

const QUESTION = 'How much may it cost, in US dollars? (a number, or `none` for no limit) ';

/**
 * Rule X6: to let a model run without any limit of cost, tokens or time is a person's decision. It is asked for on a
 * terminal, once for a shift: the answer is written to `manager.md`, where it can be read and changed.
 */
export async function requireLimit(io: Io, paths: ShiftPaths, asked: RunSettings): Promise<void> {
  if (!io.isInteractive || (await isDecided(paths, asked.limits))) return;
  const { shift, snapshot, selection, hasModel } = await planRun(paths, asked, io);
  const left = countEligible(snapshot, selection) + cellsAt(snapshot, 'qa', selection).length;
  if (!hasModel || left + cellsAt(snapshot, 'in_progress').length === 0) return;
  // What is written now would be an edit during that run.
  refuseSecondRun(paths.runLock, paths.name);
  io.print(`${shift.name} has no limit on cost, tokens or time, and its agents use a model.`);
  const answer = await untilUsable(io);
  await new ShiftFiles(paths).set('max-cost', answer);
  io.print(`Wrote \`- max-cost: ${answer}\` to manager.md; you will not be asked again.`);
}

async function isDecided(paths: ShiftPaths, flags: SetLimits = {}): Promise<boolean> {
  const { manager, managerFile } = await new ShiftFiles(paths).read();
  return isBounded({ ...readShiftSettings(manager, managerFile).settings.limits, ...flags });
}

async function untilUsable(io: Io): Promise<string> {
  for (;;) {
    const answer = (await io.ask(QUESTION))?.trim();
    if (answer === undefined || answer === '') {
      const hint = 'start again and answer, or set a limit: --max-cost 5, --max-duration 8h, --max-cost none';
      throw new NightshiftError('usage', 'nothing was started: no limit was set', hint);
    }
    if (isLimitValue('max-cost', answer)) return answer;
    io.print(`${JSON.stringify(answer)} is not an amount: write it like 5 or 2.50, or \`none\`.`);
  }
}
