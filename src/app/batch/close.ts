import type { Io } from '../../cli/io.ts';
import type { Options } from '../../cli/program.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { reportedUsage } from '../../core/model/reported-usage.ts';
import { settleTurn } from '../../engine/schedule/batch-turn.ts';
import { isStale, readBatch, removeBatch } from '../../store/folder/batch-file.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { openByHand, requireTaskIn } from './by-hand.ts';
import { callingProgram } from './calling-program.ts';
import { type Ended, endsOf, putBackForged } from './ends.ts';
import { refuseUnended } from './next.ts';
import { warnOfEdit } from './open.ts';
import { refuseToClose } from './owner.ts';
import { returnSilent } from './silent-agents.ts';
import { changedSteering, readSteering, warnOfSteering } from './steering-files.ts';

export async function closeBatch(io: Io, paths: ShiftPaths, options: Options): Promise<number> {
  const found = readBatch(paths);
  if (!found) {
    throw new NightshiftError(
      'nothing-to-do',
      `no batch of ${paths.name} is open`,
      `\`nightshift batch open ${paths.name}\` opens one`,
    );
  }
  const { batch } = found;
  const caller = callingProgram(io);
  refuseToClose(paths, found, caller, io.now());
  const said: NightshiftEvent[] = [];
  const hear = (event: NightshiftEvent) => {
    said.push(event);
    warnOfEdit(io, event);
  };
  await using hand = await openByHand(paths, io, { batch, onEvent: hear });
  const { parts, shift } = hand;
  const task = requireTaskIn(shift, batch.task);
  let ends = await endsOf(hand, paths, batch);
  const usage = options.usage === undefined ? undefined : readUsage(options.usage);
  if (!options.giveBack && !isStale(found, io.now())) await refuseUnended(paths, task, ends);
  if (usage) parts.emit({ type: 'usage:spent', role: 'manager', agent: 'by hand', task: task.name, usage });
  const changed = changedSteering(batch.steering, readSteering(paths.root, io.env));
  warnOfSteering(changed, (message) => {
    parts.emit({ type: 'run:warning', message });
    io.warn(`warning: ${message}`);
  });
  await parts.protection.end();
  await removeBatch(paths);
  await new InForceRecord(paths).remove();
  await putBackForged(hand, task.name, ends);
  // A person who ends the batch of an agent program says nothing about its items.
  const isCounted = options.giveBack === true && (caller.opener === undefined) === (batch.opener === undefined);
  if (isCounted) ends = await returnSilent(hand, task, ends, (line) => io.warn(line));
  await parts.store.giveBackStale(io.now());
  const of = (wanted: Ended['end']) => ends.filter(({ end }) => end === wanted).length;
  const end = { done: of('done'), failed: of('failed'), returned: of('open') + of('withdrawn'), compacted: false };
  using course = await hand.course();
  await settleTurn(course, { task, size: batch.size, isWaiting: batch.isWaiting }, end);
  const after = await parts.store.snapshot();
  const left = course.isLeft(after);
  const progress = said.find((event) => event.type === 'progress');
  const { done = 0, total = 0 } = progress?.type === 'progress' ? progress : {};
  if (options.json)
    io.print(JSON.stringify({ progress: { done, total }, left, ...end, ...(changed.length > 0 ? { changed } : {}) }));
  else {
    io.print(`Batch of ${batch.task} closed: ${end.done} done, ${end.failed} failed, ${end.returned} given back.`);
    io.print(`Progress: ${done}/${total}`);
    io.print('Compacted: false');
    io.print(
      left ? `Work is left: \`nightshift batch open ${paths.name}\` opens the next batch.` : 'Nothing is left to do.',
    );
  }
  return EXIT.done;
}

/** What no engine can count: agents that are started elsewhere spend elsewhere. */
function readUsage(text: string): Usage {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    told = undefined;
  }
  const usage = reportedUsage(told);
  if (usage && usage.unreadCosts === undefined) return usage;
  const hint = `write it like '{"cost_usd": 0.3, "input_tokens": 1200, "output_tokens": 80}'`;
  throw new NightshiftError('usage', `--usage ${JSON.stringify(text)} has no cost or tokens to count`, hint);
}
