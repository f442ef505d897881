import { EXIT } from '../../core/errors.ts';
import { limitsInForce, limitTexts } from '../../core/limits.ts';
import { cellsAt } from '../../core/plan.ts';
import { summarise } from '../../core/summary.ts';
import { type FoundBatch, isStale, readBatch } from '../../store/batch-file.ts';
import { currentHolder } from '../../store/run-lock.ts';
import { count } from '../../views/plain.ts';
import { summaryLines, usageText } from '../../views/summary.ts';
import { chooseShift } from '../choose-shift.ts';
import { readHistory } from '../history.ts';
import type { Io } from '../io.ts';
import { openAndCheck } from '../open-shift.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const { shift, snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths);
  const summary = summarise(snapshot, history);
  const holder = currentHolder(paths.runLock);
  const { usage: all, tally } = history;
  // Flags are known to their run alone, which told them.
  const limits = (holder && tally.limits) ?? limitsInForce(shift.settings.limits, false, io.now());
  const batch = readBatch(paths);
  if (options.json) {
    io.print(
      JSON.stringify({
        shift: paths.name,
        running: holder ?? null,
        batch: batch ? described(batch, io.now()) : null,
        ...summary,
        ms: tally.ms,
        limits,
      }),
    );
    return EXIT.done;
  }
  for (const line of summaryLines(paths.name, summary)) io.print(line);
  const usage = usageText(summary.usage);
  if (usage !== undefined) io.print(usage);
  const limited = limitTexts(limits, { usage: all, ms: tally.ms, failures: tally.failures }, false);
  if (limited.length > 0) io.print(`limits: ${limited.join(', ')}`);
  const interrupted = cellsAt(snapshot, 'in_progress').length;
  if (batch) {
    const { task, items, opened, isStale } = described(batch, io.now());
    io.print(
      `a batch is open since ${opened}: ${task}, ${count(items, 'item')}${isStale ? '; nothing was heard of it for longer than its timeout' : ''}`,
    );
  }
  if (holder) io.print(`running: process ${holder.pid} since ${holder.since}`);
  else if (interrupted > 0 && !batch) {
    io.print(
      `not running: ${count(interrupted, 'item')} in progress when it was interrupted; \`nightshift start ${paths.name}\` goes on`,
    );
  }
  return EXIT.done;
}

function described(found: FoundBatch, now: number): { task: string; items: number; opened: string; isStale: boolean } {
  const { task, items, opened } = found.batch;
  return { task, items: items.length, opened, isStale: isStale(found, now) };
}
