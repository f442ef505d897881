import { estimateFinish } from '../core/folds/estimate.ts';
import type { RunningItem } from '../core/folds/running-item.ts';
import type { Failure, ViewState } from '../core/folds/view-state.ts';
import { isApplied } from '../core/learning/lesson.ts';
import { formatDuration } from '../core/model/duration.ts';
import { limitTexts } from '../core/schedule/budget.ts';
import { isAll } from '../core/schedule/scope-share.ts';
import { count } from '../core/text/count.ts';
import { oneLine } from '../core/text/printable.ts';
import { share } from './plain.ts';
import { flow, lineOf, type Span } from './styled.ts';
import { usageText } from './summary.ts';

const ITEMS_SHOWN = 8;
const FAILURES_SHOWN = 3;
const WIDEST_BAR = 40;
const NARROW = 60;

export interface Viewport {
  readonly width: number;
  /** The maximum number of lines. */
  readonly height?: number;
  readonly colour?: boolean;
}

/** The live view of a run; `clock` formats a time of day. */
export function render(
  state: ViewState,
  { width, height = 24, colour = false }: Viewport,
  now: number,
  clock: (time: number) => string,
): string[] {
  const head = [...headLines(state, width, now), ...flow(facts(state, now, clock), width), ...pauseLines(state, now)];
  const failures = state.failures.slice(-FAILURES_SHOWN).map(failureLine);
  // A small window shows fewer failures first, then fewer running items.
  const room = Math.max(0, height - head.length);
  const items = itemLines(state, now, width, Math.min(ITEMS_SHOWN, room));
  const shown = [...head, ...items, ...failures.slice(0, Math.max(0, room - items.length))];
  return shown.slice(0, height).map((spans) => lineOf(spans, width, colour));
}

function headLines(state: ViewState, width: number, now: number): Span[][] {
  const { counts, total } = state;
  const ended = counts.done + counts.failed;
  const share = total === 0 ? 0 : ended / total;
  const what = state.tasks.length > 1 && width >= NARROW ? ' item-tasks' : '';
  const text = `${percent(share)} ${ended}/${total}${what}`;
  const elapsed = formatDuration(wholeSeconds(state.elapsed(now)));
  const name = oneLine(state.shift, Math.max(8, width >> 1));
  const room = width - name.length - text.length - elapsed.length - 6;
  const columns = Math.max(0, Math.min(WIDEST_BAR, room));
  const done = share === 1 ? columns : Math.floor((columns * counts.done) / Math.max(1, total));
  const failed = Math.min(
    columns - done,
    counts.failed > 0 ? Math.max(1, Math.round((columns * counts.failed) / total)) : 0,
  );
  return [
    [
      { text: name, style: 'bold' },
      { text: '  ' },
      { text: '█'.repeat(done), style: 'green' },
      { text: '▒'.repeat(failed), style: 'red' },
      { text: '░'.repeat(columns - done - failed), style: 'dim' },
      { text: columns > 0 ? '  ' : '' },
      { text },
      { text: `  ${elapsed}`, style: 'dim' },
    ],
  ];
}

/** Counts first, then what is known only sometimes. */
function facts(state: ViewState, now: number, clock: (time: number) => string): Span[] {
  const { counts, part, limit, limitReason, draining, isStopping, begun } = state;
  const usage = usageText(state.usage);
  const parts: Span[] = [
    { text: `${counts.todo} todo` },
    { text: `${counts.in_progress} in_progress` },
    { text: `${counts.qa} qa` },
    { text: `${counts.done} done`, style: 'green' },
    counts.failed > 0 ? { text: `${counts.failed} failed`, style: 'red' } : { text: '0 failed' },
  ];
  if (part && !isAll(part.items)) parts.push({ text: share(part.items, 'item') });
  if (part && !isAll(part.tasks)) parts.push({ text: share(part.tasks, 'task') });
  if (limit !== undefined && limit > 1) {
    parts.push({ text: `concurrency ${limit}${limitReason === undefined ? '' : ` (${oneLine(limitReason, 40)})`}` });
  }
  if (isStopping) parts.push({ text: `stopping at once: ${count(begun, 'item')} to give back`, style: 'yellow' });
  else if (draining !== undefined) {
    parts.push({ text: `stopping: ${count(begun, 'item')} may finish`, style: 'yellow' });
  } else if (state.pausedSince === undefined) parts.push(...finishText(state, now, clock));
  if (usage !== undefined) parts.push({ text: usage });
  parts.push(...lessonFacts(state));
  // The start of the run already said how many failures pause a task.
  const { 'max-same-failures': _, ...limits } = state.limits;
  parts.push(...limitTexts(limits, state.spent(now), false).map((text) => ({ text })));
  return parts;
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

function finishText(state: ViewState, now: number, clock: (time: number) => string): Span[] {
  const estimate = estimateFinish(state, now);
  if (!estimate) return [];
  const [from, to] = [clock(estimate.earliest), clock(estimate.latest)];
  return [{ text: `ends ${from === to ? `about ${from}` : `between ${from} and ${to}`}` }];
}

function pauseLines({ shift, waiting, pausedSince, draining, begun }: ViewState, now: number): Span[][] {
  if (pausedSince !== undefined && draining === undefined) {
    const items = begun === 0 ? '' : `, ${count(begun, 'item')} may finish`;
    return [
      [{ text: `paused since ${pausedSince}${items}; \`nightshift resume ${shift}\` continues`, style: 'yellow' }],
    ];
  }
  if (!waiting || waiting.until <= now) return [];
  const left = formatDuration(wholeSeconds(waiting.until - now));
  return [[{ text: `waiting ${left}: ${oneLine(waiting.reason)}`, style: 'yellow' }]];
}

/** First items that may need attention, then the longest running. */
function itemLines(state: ViewState, now: number, width: number, most: number): Span[][] {
  const rank = { stalled: 0, slow: 1, usual: 1 };
  const items = [...state.running.values()].sort(
    (a, b) => rank[state.paceOf(a, now)] - rank[state.paceOf(b, now)] || a.since - b.since || a.index - b.index,
  );
  const shown = items.length > most ? items.slice(0, Math.max(0, most - 1)) : items;
  const columns = columnsOf(shown, width);
  const lines = shown.map((item) => itemLine(state, item, now, columns));
  if (items.length > shown.length && most > 0) {
    lines.push([{ text: `  and ${items.length - shown.length} more running`, style: 'dim' }]);
  }
  return lines;
}

interface Columns {
  readonly row: number;
  readonly task: number;
}

function columnsOf(items: readonly RunningItem[], width: number): Columns {
  return {
    row: Math.max(0, ...items.map(({ index }) => String(index + 1).length)),
    task: width < NARROW ? 0 : Math.min(width >> 2, Math.max(0, ...items.map(({ task }) => task.length))),
  };
}

function itemLine(state: ViewState, item: RunningItem, now: number, columns: Columns): Span[] {
  const pace = state.paceOf(item, now);
  const time = formatDuration(wholeSeconds(now - item.since)).padStart(7);
  const role =
    `${item.role}${item.role === 'dev' && item.attempt > 1 ? ` ${item.attempt}/${item.maxAttempts}` : ''}`.padEnd(7);
  const where = `row ${String(item.index + 1).padStart(columns.row)}`;
  const task = columns.task === 0 ? '' : `  ${oneLine(item.task, columns.task).padEnd(columns.task)}`;
  const said: Span = { text: item.said === undefined ? '' : `  ${oneLine(item.said)}`, style: 'dim' };
  switch (pace) {
    case 'stalled': {
      const silent = formatDuration(wholeSeconds(now - item.lastSign));
      return [{ text: `! ${where}${task}  ${role}${time}  no sign of life for ${silent}`, style: 'red' }, said];
    }
    case 'slow':
      return [
        { text: '~ ', style: 'yellow' },
        { text: `${where}${task}  ${role}` },
        { text: `${time} slow`, style: 'yellow' },
        said,
      ];
    case 'usual':
      return [{ text: `  ${where}${task}  ${role}${time}` }, said];
  }
}

/** The last line of the output is usually the cause; `status` has all of it. */
function failureLine({ task, index, reason }: Failure): Span[] {
  const lines = reason.trim().split('\n');
  const short = lines.length > 1 ? `… ${oneLine(lines.at(-1)!)}` : oneLine(reason);
  return [
    { text: `failed row ${index + 1} ${oneLine(task)}`, style: 'red' },
    { text: short === '' ? '' : `: ${short}` },
  ];
}

/** 100 % only when nothing is left. */
function percent(share: number): string {
  return `${Math.floor(share * 100)}%`;
}

function wholeSeconds(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 1000)) * 1000;
}
