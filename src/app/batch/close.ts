import type { LessonChange } from '../../core/learning/lesson.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { reportedUsage } from '../../core/model/reported-usage.ts';
import { settleTurn } from '../../engine/schedule/turn.ts';
import { type FoundBatch, isStale, readBatch, removeBatch } from '../../store/folder/batch-file.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { countLessonVotes } from '../lessons/fold-by-hand.ts';
import type { World } from '../world.ts';
import { lockForBatch, openByHand, requireTaskIn } from './by-hand.ts';
import { callingProgram } from './calling-program.ts';
import { type BatchItemEnd, endsOf, putBackForged } from './ends.ts';
import { refuseUnended } from './next.ts';
import { refuseToClose } from './owner.ts';
import { returnSilent, type SilentItem } from './silent-agents.ts';
import { changedSteering, readSteering, steeringWarning } from './steering-files.ts';

export interface ClosedBatch {
  readonly task: string;
  readonly progress: Pick<Extract<NightshiftEvent, { type: 'progress' }>, 'done' | 'total' | 'itemTasks'>;
  /** Whether the shift has more to do. */
  readonly left: boolean;
  readonly done: number;
  readonly failed: number;
  readonly returned: number;
  readonly compacted: false;
  /** Files that steer agents or git and changed while the batch was open. */
  readonly changed: readonly string[];
  readonly warning: string | undefined;
  readonly silent: readonly SilentItem[];
  /** What became of lessons that agents of the batch praised or blamed. */
  readonly lessons: readonly LessonChange[];
}

export interface CloseBatchOptions {
  /** Also if items have no status: they go back, and fail the third time. */
  readonly giveBack?: boolean;
  /** What the agents spent, as JSON. */
  readonly usage?: string | undefined;
  readonly onEvent: (event: NightshiftEvent) => void;
}

/** Ends the open batch: counts its results and what it says about lessons, and sets the next size (rule O5). */
export async function closeBatch(world: World, paths: ShiftPaths, options: CloseBatchOptions): Promise<ClosedBatch> {
  using _lock = await lockForBatch(world, paths, 'close');
  const { hasLessons, ...closed } = await close(world, paths, options);
  // Once nothing of the batch is in force any more: lessons change the Steps.
  return { ...closed, lessons: hasLessons ? await countLessonVotes(world, paths, closed.task) : [] };
}

async function close(world: World, paths: ShiftPaths, options: CloseBatchOptions) {
  const found = requireBatch(paths);
  const { batch } = found;
  const caller = callingProgram(world);
  refuseToClose(paths, found, caller, world.now());
  const events: NightshiftEvent[] = [];
  const onEvent = (event: NightshiftEvent) => {
    events.push(event);
    options.onEvent(event);
  };
  await using hand = await openByHand(paths, world, { batch, onEvent });
  const { ports, shift } = hand;
  const task = requireTaskIn(shift, batch.task);
  const ends = await endsOf(hand, paths, batch);
  const usage = options.usage === undefined ? undefined : readUsage(options.usage);
  if (!options.giveBack && !isStale(found, world.now())) await refuseUnended(paths, task, ends);
  if (usage) ports.events.emit({ type: 'usage:spent', role: 'manager', agent: 'by hand', task: task.name, usage });
  const changed = changedSteering(batch.steering, readSteering(paths.root, world.env));
  const warning = steeringWarning(changed);
  if (warning !== undefined) ports.events.emit({ type: 'run:warning', message: warning });
  await ports.protection.end();
  await removeBatch(paths);
  await new InForceRecord(paths).remove();
  await putBackForged(hand, task.name, ends);
  // If you end the batch of an agent program, that says nothing about its items.
  const isCounted = options.giveBack === true && (caller.opener === undefined) === (batch.opener === undefined);
  const { after, silent } = isCounted ? await returnSilent(hand, task, ends) : { after: ends, silent: [] };
  await ports.store.giveBackStale(world.now());
  const counts = countEnds(after);
  using context = await hand.context();
  await settleTurn(context, { task, size: batch.size, isWaiting: batch.isWaiting }, counts);
  const left = context.isLeft(await ports.store.snapshot());
  const hasLessons = shift.lessons.book.lessons.length > 0;
  return { task: batch.task, progress: progressIn(events), left, ...counts, changed, warning, silent, hasLessons };
}

function requireBatch(paths: ShiftPaths): FoundBatch {
  const found = readBatch(paths);
  if (found) return found;
  const hint = `\`nightshift batch open ${paths.name}\` opens one`;
  throw new NightshiftError('nothing-to-do', `no batch of ${paths.name} is open`, hint);
}

function countEnds(ends: readonly BatchItemEnd[]) {
  const of = (wanted: BatchItemEnd['end']) => ends.filter(({ end }) => end === wanted).length;
  const compacted: false = false;
  return { done: of('done'), failed: of('failed'), returned: of('open') + of('withdrawn'), compacted };
}

function progressIn(events: readonly NightshiftEvent[]): ClosedBatch['progress'] {
  const progress = events.find((event) => event.type === 'progress');
  if (progress?.type !== 'progress') return { done: 0, total: 0 };
  const { done, total, itemTasks } = progress;
  return { done, total, ...(itemTasks && { itemTasks }) };
}

/** Agents that are started elsewhere spend elsewhere: only their program can tell how much. */
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
