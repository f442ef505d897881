import { estimateFinish } from '../core/folds/estimate.ts';
import type { Failure, ViewState } from '../core/folds/view-state.ts';
import { isApplied } from '../core/learning/lesson.ts';
import { formatDuration } from '../core/model/duration.ts';
import type { Usage } from '../core/model/model.ts';
import { limitTexts } from '../core/schedule/budget.ts';
import { isAll } from '../core/schedule/scope-share.ts';
import { count } from '../core/text/count.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';
import { runningLines, wholeSeconds } from './live-items.ts';
import { share } from './plain.ts';
import { rowName } from './row-name.ts';
import { flow, lineOf, type Span } from './styled.ts';
import { usageText } from './summary.ts';
import { widthOf } from './text-width.ts';

const ITEMS_SHOWN = 8;
const FAILURES_SHOWN = 3;
/** A shorter bar shows little: the texts give way first. */
const GOOD_BAR = 12;
const SHORTEST_BAR = 5;

export interface Viewport {
  readonly width: number;
  /** The maximum number of lines. */
  readonly height?: number;
  readonly colour?: boolean;
}

/** The live view of a run. */
export function render(state: ViewState, { width, height = 24, colour = false }: Viewport, now: number): string[] {
  const head = [headLine(state, width, now), ...flow(facts(state, now), width), ...pauseLines(state, now)];
  const failures = state.failures.slice(-FAILURES_SHOWN).map((each) => failureLine(each, state.tasks.length > 1));
  // A small window shows fewer failures first, then fewer running items.
  const room = Math.max(0, height - head.length);
  const items = runningLines(state, now, width, Math.min(ITEMS_SHOWN, room));
  const shown = [...head, ...items, ...failures.slice(0, Math.max(0, room - items.length))];
  return shown.slice(0, height).map((spans) => lineOf(spans, width, colour));
}

/** The bar takes all the room that the texts leave. */
function headLine(state: ViewState, width: number, now: number): Span[] {
  const { counts } = state;
  const share = counts.total === 0 ? 0 : 1 - counts.remaining / counts.total;
  const name = oneLine(state.shift, Math.max(8, width >> 1));
  const elapsed = formatDuration(wholeSeconds(state.elapsed(now)));
  const rest = (text: string) => `  ${percent(share)}  ${text}  ${elapsed}`;
  const texts = progressTexts(state);
  const text = texts.find((each) => widthOf(name + rest(each)) + GOOD_BAR + 2 <= width) ?? texts.at(-1)!;
  const room = width - widthOf(name + rest(text)) - 2;
  return [
    { text: name, style: 'bold' },
    ...(room < SHORTEST_BAR ? [] : [{ text: '  ' }, ...bar(state, share, room)]),
    { text: `  ${percent(share)}`, style: 'bold' },
    { text: `  ${text}` },
    { text: `  ${elapsed}`, style: 'dim' },
  ];
}

/** `2/24 items, 14/48 item-tasks`, then shorter; with one task both are the same. */
function progressTexts({ counts, part, tasks, itemsDone }: ViewState): string[] {
  const cells = `${counts.done}/${counts.total}`;
  if (tasks.length < 2 || part === undefined) return [`${cells} items`, cells];
  return [`${itemsDone}/${part.items.chosen} items, ${cells} item-tasks`, `${cells} item-tasks`, cells];
}

function bar({ counts }: ViewState, share: number, columns: number): Span[] {
  const part = (amount: number) => (columns * amount) / Math.max(1, counts.total);
  const isOver = share === 1;
  const lost = counts.failed + (isOver ? counts.blocked : 0);
  const failed = lost > 0 ? Math.max(1, Math.round(part(lost))) : 0;
  const done = isOver ? columns - failed : Math.min(columns - failed, Math.floor(part(counts.done)));
  return [
    { text: '█'.repeat(done), style: 'green' },
    { text: '▒'.repeat(failed), style: 'red' },
    { text: '░'.repeat(columns - done - failed), style: 'dim' },
  ];
}

/** Counts first, then what is known only sometimes. */
function facts(state: ViewState, now: number): Span[] {
  const { counts, part, limit, limitReason, draining, isStopping, begun } = state;
  const usage = usageText(withoutLimited(state));
  const parts: Span[] = [
    { text: `${counts.todo} todo` },
    { text: `${counts.in_progress} in_progress` },
    ...(counts.qa > 0 ? [{ text: `${counts.qa} qa` }] : []),
    { text: `${counts.done} done`, style: 'green' },
    ...(counts.failed > 0 ? [{ text: `${counts.failed} failed`, style: 'red' as const }] : []),
  ];
  if (part && !isAll(part.items)) parts.push({ text: share(part.items, 'item') });
  if (part && !isAll(part.tasks)) parts.push({ text: share(part.tasks, 'task') });
  if (limit !== undefined && limit > 1) {
    parts.push({ text: `concurrency ${limit}${limitReason === undefined ? '' : ` (${oneLine(limitReason, 40)})`}` });
  }
  if (state.workers.size > 0) parts.push({ text: workersText(state.workers) });
  if (isStopping) parts.push({ text: `stopping at once: ${count(begun, 'item')} to give back`, style: 'yellow' });
  else if (draining !== undefined) {
    parts.push({ text: `stopping: ${count(begun, 'item')} may finish`, style: 'yellow' });
  } else if (state.pausedSince === undefined) parts.push(...finishText(state, now));
  if (usage !== undefined) parts.push({ text: usage });
  parts.push(...lessonFacts(state), ...compactionFacts(state));
  // The start of the run already said how many failures pause a task.
  const { 'max-same-failures': _, ...limits } = state.limits;
  parts.push(...limitTexts(limits, state.spent(now), false, now).map((text) => ({ text })));
  return parts;
}

/** `3 workers with 24 slots`. */
function workersText(workers: ReadonlyMap<string, number>): string {
  const slots = [...workers.values()].reduce((all, each) => all + each, 0);
  return `${count(workers.size, 'worker')} with ${count(slots, 'slot')}`;
}

/** A cost with a limit is shown with it. */
function withoutLimited({ usage, limits }: ViewState): Usage {
  const { costUsd: _, ...tokens } = usage;
  return limits['max-cost'] === undefined ? usage : tokens;
}

/** What this run has learned so far. */
function lessonFacts({ lessons }: ViewState): Span[] {
  const states = [...lessons.values()];
  const learned = states.filter((state) => isApplied({ state })).length;
  const retired = states.filter((state) => state === 'retired').length;
  const held = states.filter((state) => state === 'held').length;
  return [
    ...(learned > 0 ? [{ text: `${count(learned, 'lesson')} learned` }] : []),
    ...(retired > 0 ? [{ text: `${count(retired, 'lesson')} retired` }] : []),
    ...(held > 0 ? [{ text: `${count(held, 'lesson')} for you to decide`, style: 'yellow' as const }] : []),
  ];
}

/** Only if an agent lost context: the latest row, and how often it happened. */
function compactionFacts({ compacted }: ViewState): Span[] {
  if (!compacted) return [];
  const { times, last } = compacted;
  const row = rowName({ row: (last.index ?? -1) + 1, label: last.label });
  return [{ text: `compacted: ${row}${times === 1 ? '' : ` (${times} times)`}`, style: 'yellow' }];
}

function finishText(state: ViewState, now: number): Span[] {
  const estimate = estimateFinish(state, now);
  if (!estimate) return [];
  const [from, to] = [localTime(estimate.earliest, now), localTime(estimate.latest, now)];
  return [{ text: `ends ${from === to ? `about ${from}` : `between ${from} and ${to}`}` }];
}

function pauseLines(
  { shift, waiting, waitingForWorkers, pausedSince, draining, begun }: ViewState,
  now: number,
): Span[][] {
  if (pausedSince !== undefined && draining === undefined) {
    const items = begun === 0 ? '' : `, ${count(begun, 'item')} may finish`;
    const since = localTime(pausedSince, now);
    return [[{ text: `paused since ${since}${items}; \`nightshift resume ${shift}\` continues`, style: 'yellow' }]];
  }
  if (waitingForWorkers !== undefined && draining === undefined) {
    return [[{ text: `waiting for workers: ${oneLine(waitingForWorkers)}`, style: 'yellow' }]];
  }
  if (!waiting || waiting.until <= now) return [];
  const left = formatDuration(wholeSeconds(waiting.until - now));
  return [[{ text: `waiting ${left}: ${oneLine(waiting.reason)}`, style: 'yellow' }]];
}

/** The last line of the output is usually the cause; `status` has all of it. */
function failureLine({ task, index, label, worker, reason }: Failure, hasTasks: boolean): Span[] {
  const lines = reason.trim().split('\n');
  const short = lines.length > 1 ? `… ${oneLine(lines.at(-1)!)}` : oneLine(reason);
  return [
    {
      text: `failed ${rowName({ row: index + 1, label, worker })}${hasTasks ? `: ${oneLine(task)}` : ''}`,
      style: 'red',
    },
    { text: short === '' ? '' : `: ${short}` },
  ];
}

/** 100 % only when nothing is left. */
function percent(share: number): string {
  return `${Math.floor(share * 100)}%`;
}
