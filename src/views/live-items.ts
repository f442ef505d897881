import type { RunningSession } from '../core/folds/sessions.ts';
import type { ViewState } from '../core/folds/view-state.ts';
import { formatDuration } from '../core/model/duration.ts';
import { oneLine } from '../core/text/printable.ts';
import { labelText, workerText } from './row-name.ts';
import type { Span } from './styled.ts';
import { cutTo, widthOf } from './text-width.ts';

/** A narrower window shows neither tasks nor workers. */
const NARROW = 60;
const WIDEST_LABEL = 30;
const WIDEST_WORKER = 20;

/** What the manager and the agents are doing. */
export function runningLines(state: ViewState, now: number, width: number, most: number): Span[][] {
  const folding = [...state.folding].map(([task, since]) => foldingLine(task, now - since)).slice(0, most);
  return [...folding, ...itemLines(state, now, width, most - folding.length)];
}

function foldingLine(task: string, ms: number): Span[] {
  return [
    { text: '  manager', style: 'cyan' },
    { text: `  folding lessons of ${oneLine(task)}` },
    { text: `  ${formatDuration(wholeSeconds(ms))}`, style: 'dim' },
  ];
}

/** First items that may need attention, then the longest running. */
function itemLines(state: ViewState, now: number, width: number, most: number): Span[][] {
  const rank = { stalled: 0, slow: 1, usual: 1 };
  const items = [...state.running.values()].sort(
    (a, b) => rank[state.paceOf(a, now)] - rank[state.paceOf(b, now)] || a.since - b.since || a.index - b.index,
  );
  const shown = items.length > most ? items.slice(0, Math.max(0, most - 1)) : items;
  const columns = columnsOf(shown, width, state.tasks.length > 1);
  const lines = shown.map((item) => itemLine(state, item, now, columns));
  if (items.length > shown.length && most > 0) {
    lines.push([{ text: `  and ${items.length - shown.length} more running`, style: 'dim' }]);
  }
  return lines;
}

interface Columns {
  readonly row: number;
  readonly label: number;
  readonly task: number;
  readonly worker: number;
}

function columnsOf(items: readonly RunningSession[], width: number, hasTasks: boolean): Columns {
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map(widthOf));
  return {
    row: widest(items.map(({ index }) => String(index + 1))),
    label: Math.min(WIDEST_LABEL, width >> 2, widest(items.map(({ label }) => labelText(label)))),
    task: width < NARROW || !hasTasks ? 0 : Math.min(width >> 2, widest(items.map(({ task }) => task))),
    worker:
      width < NARROW ? 0 : Math.min(WIDEST_WORKER, width >> 2, widest(items.map((item) => workerText(item.worker)))),
  };
}

function itemLine(state: ViewState, item: RunningSession, now: number, columns: Columns): Span[] {
  const time = formatDuration(wholeSeconds(now - item.since)).padStart(7);
  const attempt = item.role === 'dev' && item.attempt > 1 ? ` ${item.attempt}/${item.maxAttempts}` : '';
  const label = padTo(cutTo(labelText(item.label), columns.label), columns.label);
  const worker = padTo(cutTo(workerText(item.worker), columns.worker), columns.worker);
  const where: Span[] = [
    { text: `row ${String(item.index + 1).padStart(columns.row)}` },
    { text: label, style: 'bold' },
    { text: columns.task === 0 ? '' : `  ${padTo(cutTo(oneLine(item.task), columns.task), columns.task)}` },
    { text: `  ${`${item.role}${attempt}`.padEnd(7)}`, style: item.role === 'qa' ? 'cyan' : undefined },
    { text: worker, style: 'dim' },
  ];
  const doing: Span = { text: item.doing === undefined ? '' : `  ${oneLine(item.doing)}`, style: 'dim' };
  switch (state.paceOf(item, now)) {
    case 'stalled': {
      const silent = formatDuration(wholeSeconds(now - item.lastSign));
      return [
        { text: `! ${where.map(({ text }) => text).join('')}${time}  no sign of life for ${silent}`, style: 'red' },
        doing,
      ];
    }
    case 'slow':
      return [{ text: '~ ', style: 'yellow' }, ...where, { text: `${time} slow`, style: 'yellow' }, doing];
    case 'usual':
      return [{ text: '  ' }, ...where, { text: time, style: 'dim' }, doing];
  }
}

function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function wholeSeconds(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 1000)) * 1000;
}
