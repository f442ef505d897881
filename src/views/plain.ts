import { formatDuration } from '../core/model/duration.ts';
import type { NightshiftEvent, TaskCounts } from '../core/model/events.ts';
import { ATTEMPTS } from '../core/model/model.ts';
import { limitTexts } from '../core/schedule/budget.ts';
import { isAll, type Share, scopeShareOf } from '../core/schedule/scope-share.ts';
import { count, listed } from '../core/text/count.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';
import { accessText } from '../core/workspace/access.ts';
import { resultsLines } from './kept-workspaces.ts';
import { rowName, shortReason } from './row-name.ts';

/** A batch lists up to this many rows. */
const ROWS_SHOWN = 12;

/** For the terminal that started the run. */
const CTRL_C_AGAIN = 'Ctrl-C again stops at once.';

/** An event as lines for a log or a terminal; none for events that only programs need. `ctrlC`: what Ctrl-C does. */
export function plainLines(event: NightshiftEvent, ctrlC = CTRL_C_AGAIN): string[] {
  switch (event.type) {
    case 'run:started':
      return startLines(event);
    case 'run:warning':
      return [`warning: ${oneLine(event.message)}`];
    case 'run:draining':
      return [drainLine(event, ctrlC)];
    case 'run:stopping':
      return [`stopping at once: ${count(event.running, 'running item')} given back`];
    case 'run:paused':
      return [pauseLine(event)];
    case 'run:resumed':
      return ['resumed'];
    case 'run:waiting':
      return [`waiting ${formatDuration(event.ms)}: ${oneLine(event.reason)}`];
    case 'task:paused':
      return [`${event.task}: paused: ${oneLine(event.reason)}`];
    case 'batch:claimed':
      return [`${event.task}: ${rowList(event.indices)}`];
    case 'attempt:finished':
      // The reason of the last attempt follows with the item.
      return attemptLines(event);
    case 'item:recorded':
      return recordedLines(event);
    case 'item:returned':
      return [`  ${subject(event)} given back: ${shortReason(event.reason)}`];
    case 'delivery:finished':
      return deliveryLines(event);
    case 'verdict:voided':
      return [`  ${subject(event)}: the verdict of its qa is void: ${oneLine(event.reason)}`];
    case 'item:withdrawn':
      return [`  ${subject(event)} withdrawn (${oneLine(event.reason)}); its result is dropped`];
    case 'edit:reverted':
      return revertedLines(event);
    case 'document:accepted':
      return [`${event.file}: accepted, counts from the next item (${oneLine(event.what)})`];
    case 'table:grew':
      return [`${count(event.rows, 'row')} added to the table`];
    case 'steps:changed':
      return [
        `${event.task}: Steps changed (${event.from} to ${event.to}): ${oneLine(event.summary)}`,
        ...event.lessons.map(({ text, rows }) => {
          return `  + ${oneLine(text)}${rows.length === 0 ? '' : ` (from ${listed('row', rows)})`}`;
        }),
      ];
    case 'lesson:changed': {
      const { id, text, from, to, reason } = event;
      const why = reason === undefined ? '' : ` (${oneLine(reason)})`;
      return [`${event.task}: lesson ${id} ${from === undefined ? '' : `${from} -> `}${to}: ${oneLine(text)}${why}`];
    }
    case 'steps:kept':
      if (event.recommendations.length === 0) return [];
      return [
        `${event.task}: ${count(event.recommendations.length, 'recommendation')}, Steps unchanged: ${oneLine(event.reason)}`,
        ...event.recommendations.map(({ text, row }) => `  row ${row}: ${oneLine(text)}`),
      ];
    case 'batch:finished': {
      const { done, failed, returned, from, to, reason } = event;
      const ends = [`${done} done`, `${failed} failed`, ...(returned > 0 ? [`${returned} given back`] : [])].join(', ');
      return [from === to ? ends : `${ends}; batch size ${from} -> ${to} (${reason})`];
    }
    case 'concurrency:changed':
      return [`concurrency ${event.from} -> ${event.to} (${event.reason})`];
    case 'progress':
      return [progressLine(event)];
    case 'worker:joined':
    case 'worker:left':
    case 'worker:lost':
    case 'result:refused':
    case 'fleet:waiting':
    case 'fleet:ready':
      return [fleetLine(event)];
    case 'run:finished':
    case 'fold:started':
    case 'fold:finished':
    case 'workspace:opened':
    case 'dev:started':
    case 'dev:finished':
    case 'qa:started':
    case 'qa:finished':
    case 'table:edited':
      return [];
  }
  // The journal of a newer version may have more types.
  return [];
}

/** The lines that scroll above a live view, which shows counts and running items itself. */
export function scrollingLines(event: NightshiftEvent, ctrlC?: string): string[] {
  if (['batch:claimed', 'batch:finished', 'concurrency:changed'].includes(event.type)) return [];
  if (event.type === 'progress' && !event.compacted) return [];
  return plainLines(event, ctrlC);
}

type FleetEvent = Extract<NightshiftEvent, { type: `worker:${string}` | `fleet:${string}` | 'result:refused' }>;

function fleetLine(event: FleetEvent): string {
  switch (event.type) {
    case 'worker:joined':
      return `worker ${oneLine(event.worker)} joined: ${count(event.slots, 'slot')}`;
    case 'worker:left':
      return `worker ${oneLine(event.worker)} left`;
    case 'worker:lost': {
      const back = `; ${count(event.running, 'item')} ${event.running === 1 ? 'is' : 'are'} given back`;
      return `worker ${oneLine(event.worker)} was lost${event.running === 0 ? '' : back}`;
    }
    case 'result:refused': {
      const whose = event.task === undefined ? `worker ${oneLine(event.worker)}` : subject(event);
      return `  ${whose}: a late result was refused: ${oneLine(event.reason)}`;
    }
    case 'fleet:waiting':
      return `waiting for workers: ${oneLine(event.reason)}`;
    case 'fleet:ready':
      return `workers are ready: ${count(event.slots, 'slot')}`;
  }
}

/** Rule M5. */
export function progressLine({ done, total, itemTasks, compacted }: ReportedProgress): string {
  // With one task they are the same.
  const cells =
    itemTasks === undefined || itemTasks.total === total ? '' : `, ${itemTasks.done}/${itemTasks.total} item-tasks`;
  return `Progress: ${done}/${total} items${cells}. Compacted: ${compacted}`;
}

type ReportedProgress = Pick<
  Extract<NightshiftEvent, { type: 'progress' }>,
  'done' | 'total' | 'itemTasks' | 'compacted'
>;

/** How a run ended. */
export function endText({ reason, error }: { reason: string; error?: string }): string {
  return `ended${error === undefined ? '' : ' by an error'}: ${reason}`;
}

type Started = Extract<NightshiftEvent, { type: 'run:started' }>;

function startLines(event: Started): string[] {
  const { shift, agent, parallel, stream, recovered, waiting, adopted = 0 } = event;
  const { items, tasks, names } = scopeShareOf(event);
  const how = stream ? 'as a stream' : parallel ? 'in batches' : 'one at a time';
  const what = `${share(items, 'item')}, ${share(tasks, 'task')} (${names.join(', ')})`;
  const lines = [`${shift}: ${what}, agent ${agent}, ${how}`];
  const nothing = nothingToDo(event);
  if (nothing.length === 0) {
    lines.push(...(event.access ?? []).map((each) => accessText(each, event.tasks.length)));
    lines.push(...resultsLines(shift, event.results));
  }
  if (recovered > 0) lines.push(`${count(recovered, 'item')} in progress from an interrupted run: back to todo`);
  if (adopted > 0) lines.push(`adopted ${count(adopted, 'item')} that workers kept running`);
  const limits = event.limits ? limitTexts(event.limits, event.spent, event.hasModel, Date.parse(event.at)) : [];
  if (limits.length > 0) lines.push(`limits: ${limits.join(', ')}`);
  if (waiting > 0) lines.push(`${count(waiting, 'item')} at qa from an earlier run: judged first`);
  return [...lines, ...nothing];
}

/** The summary covers the whole shift, so it would not say this. */
function nothingToDo(event: Started): string[] {
  const counts = event.counts ?? [];
  const sum = (key: Exclude<keyof TaskCounts, 'task'>) => counts.reduce((all, each) => all + each[key], 0);
  const [done, failed, blocked] = [sum('done'), sum('failed'), sum('blocked')];
  if (counts.length === 0 || sum('todo') - blocked + sum('in_progress') + sum('qa') > 0) return [];
  const { items, tasks } = scopeShareOf(event);
  const where = isAll(items) && isAll(tasks) ? '' : ' in the selection';
  const why = [
    ...(done > 0 ? [`${done} done`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(blocked > 0 ? [`${blocked} blocked by a task that is not done`] : []),
  ];
  return [`nothing to do${where}: ${why.join(', ')}`];
}

function drainLine(event: Extract<NightshiftEvent, { type: 'run:draining' }>, ctrlC: string): string {
  const { signal, running, reason, isLeaving } = event;
  if (isLeaving) return `stopping at once; leaving ${count(running, 'running item')} with workers`;
  if (reason !== undefined) {
    return `stopping: ${oneLine(reason, 1000)}. ${count(running, 'running item')} may finish, nothing new starts.`;
  }
  if (signal === 'SIGINT' || signal === 'control') {
    return `stopping: ${count(running, 'running item')} may finish, nothing new starts. ${ctrlC}`.trimEnd();
  }
  return `stopping (${signal}): ${count(running, 'running item')} may finish within a minute, nothing new starts.`;
}

function pauseLine(event: Extract<NightshiftEvent, { type: 'run:paused' }>): string {
  const { shift, running, now } = event;
  const since = localTime(event.since, Date.parse(event.at));
  return `${pauseText({ since, items: running, now })}; \`nightshift resume ${shift}\` continues`;
}

/** A pause, and what becomes of running items. `since`: for people. */
export function pauseText({ since, items, now }: { since: string; items: number; now: boolean }): string {
  const what = now ? `${count(items, 'running item')} given back` : `${count(items, 'running item')} may finish`;
  return `paused since ${since}: ${items === 0 ? '' : `${what}, `}nothing new starts`;
}

function recordedLines(event: Extract<NightshiftEvent, { type: 'item:recorded' }>): string[] {
  const { to, reason } = event;
  if (to === 'in_progress') {
    return [`  ${subject(event)} failed by its qa, sent back to its dev: ${shortReason(reason ?? '')}`];
  }
  if (to !== 'done' && to !== 'failed') return [];
  return [`  ${subject(event)} ${to}${reason === undefined ? '' : `: ${shortReason(reason)}`}`];
}

/** `row 4 hedgehog: make_page`, in a fleet `row 4 hedgehog on build-3: make_page`. */
function subject({ index, item, label, task, worker }: NightshiftEvent): string {
  // Journals of older versions have no index for a removed row.
  return `${index === undefined ? `item ${item}` : rowName({ row: index + 1, label, worker })}: ${task}`;
}

export function rowList(indices: readonly number[]): string {
  const rows = indices.slice(0, ROWS_SHOWN).map((index) => index + 1);
  const more = indices.length > ROWS_SHOWN ? ` and ${indices.length - ROWS_SHOWN} more` : '';
  return `${indices.length === 1 ? 'row' : 'rows'} ${rows.join(', ')}${more}`;
}

/** `2 of 30 items`, or `30 items` if it is all of them. */
export function share(of: Share, noun: string): string {
  return isAll(of) ? count(of.all, noun) : `${of.chosen} of ${count(of.all, noun)}`;
}

/** `row 4 hedgehog: branch nightshift/pages/hedgehog`. A failure follows with the item. */
function deliveryLines(event: Extract<NightshiftEvent, { type: 'delivery:finished' }>): string[] {
  const { branch, url, isHeld, reason, kind, note, into } = event;
  if (note !== undefined) return [`  ${subject(event)}: ${oneLine(note)}`];
  if (reason !== undefined || (branch === undefined && url === undefined)) return [];
  const where = kind === 'merge' ? `merged into ${into}` : `${kind === 'push' ? 'pushed' : 'branch'} ${branch}`;
  const held = isHeld ? `branch ${branch}, waits for \`nightshift deliver\`` : (url ?? where);
  return [`  ${subject(event)}: ${oneLine(held)}`];
}

function attemptLines(event: Extract<NightshiftEvent, { type: 'attempt:finished' }>): string[] {
  const { status, reason, attempt, maxAttempts = ATTEMPTS, waitMs } = event;
  if (status === 'SUCCESS' || reason === undefined || attempt === maxAttempts) return [];
  const next = waitMs === undefined ? '' : ` (next attempt in ${formatDuration(waitMs)})`;
  return [`  ${subject(event)} attempt ${attempt} of ${maxAttempts}: ${shortReason(reason)}${next}`];
}

function revertedLines({
  file,
  what,
  kept,
  runningItems = [],
  remedy,
}: Extract<NightshiftEvent, { type: 'edit:reverted' }>): string[] {
  const rows = [...new Set(runningItems.map(({ index }) => index))].sort((a, b) => a - b);
  const during = rows.length === 0 ? '' : ` while ${rowList(rows)} ${rows.length === 1 ? 'was' : 'were'} running`;
  const copy = kept === undefined ? '' : `; the edited text is in ${kept}`;
  const accept = remedy === undefined || kept === undefined ? '' : `; \`${remedy}\` applies it`;
  return [`warning: ${file}: an edit${during} was reverted (${oneLine(what)})${copy}${accept}`];
}
