import type { ShiftPaths } from '../app/find-shift.ts';
import { type LimitedRun, needsLimit, setMaxCost } from '../app/run/ask-limit.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { isLimitValue } from '../core/schedule/budget.ts';
import type { Io } from './io.ts';

const QUESTION = 'How much may it cost, in US dollars? (a number, or `none` for no limit) ';

/** Asks on a terminal, once for each shift: the answer is written to `manager.md`, where it can be changed. */
export async function requireLimit(io: Io, paths: ShiftPaths, settings: LimitedRun): Promise<void> {
  if (!io.isInteractive || !(await needsLimit(paths, settings, io))) return;
  io.print(`${paths.name} has no limit on cost, tokens or time, and its agents use a model.`);
  const answer = await askUntilUsable(io);
  await setMaxCost(paths, answer);
  io.print(`Wrote \`- max-cost: ${answer}\` to manager.md; you will not be asked again.`);
}

async function askUntilUsable(io: Io): Promise<string> {
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
