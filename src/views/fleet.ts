import { formatDuration } from '../core/model/duration.ts';
import type { FleetItem, FleetShift, FleetStatus, FleetWorker } from '../core/model/fleet-status.ts';
import { count, listed } from '../core/text/count.ts';
import { oneLine } from '../core/text/printable.ts';
import { rowName } from './row-name.ts';
import { widthOf } from './text-width.ts';

/** A coordinator sends a heartbeat every second. */
const SILENT_SECONDS = 30;
const ROWS_SHOWN = 4;
const NAMES_SHOWN = 3;
const WORDS = { run: '', drain: 'draining', stop: 'stopping' } as const;

/** `fleet status`: the shifts, a line for each worker with its problems below it, what they offer, and totals. */
export function fleetStatusLines({ shifts, workers }: FleetStatus): string[] {
  const sorted = [...workers].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  return [
    ...(shifts.length === 0 ? ['no shift runs on this fleet'] : shifts.map(shiftLine)),
    ...(workers.length === 0 ? [] : ['', ...workerLines(sorted), '', ...offerLines(sorted)]),
    totalLine({ shifts, workers }),
  ];
}

function shiftLine({ name, coordinator, mode, isPaused, wanted, orders }: FleetShift): string {
  const own = oneLine(name);
  const many = `${count(orders.running, 'order')} running, ${orders.waiting} waiting, ${count(wanted, 'slot')} wanted`;
  if (!coordinator) {
    const ended = orders.ended === 0 ? '' : `${count(orders.ended, 'result')} to record, `;
    return `${own}: no coordinator; ${ended}${many}; \`nightshift start ${own} --fleet URL\` resumes it`;
  }
  const { host, pid, seenSecondsAgo } = coordinator;
  const seen = seenText(seenSecondsAgo, seenSecondsAgo >= SILENT_SECONDS);
  const who = `coordinator: process ${pid} on ${oneLine(host)}, ${seen}`;
  const state = mode === 'run' ? (isPaused ? 'paused; ' : '') : `${WORDS[mode]}; `;
  return `${own}: ${state}${many} (${who})`;
}

/** A problem or a late heartbeat stands out: what is normal is short. */
function workerLines(workers: readonly FleetWorker[]): string[] {
  const hasOneVersion = new Set(workers.map(({ version }) => version)).size === 1;
  const cells = workers.map(({ name, running, slots, seenSecondsAgo, isSilent, mode, version, items }) => [
    oneLine(name, 40),
    `${running}/${slots}`,
    seenText(seenSecondsAgo, isSilent),
    WORDS[mode],
    hasOneVersion ? '' : oneLine(version, 20),
    itemsText(items),
  ]);
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column]!))));
  return workers.flatMap(({ problems }, place) => {
    const row = cells[place]!.map((cell, column) => ({ cell, width: widths[column]! })).filter(
      ({ width }) => width > 0,
    );
    const line = row.map(({ cell, width }) => cell + ' '.repeat(width - widthOf(cell))).join('  ');
    return [line.trimEnd(), ...problems.map((problem) => `    ! ${oneLine(problem, 1000)}`)];
  });
}

/** One item with everything, several by their rows: `night rows 3, 7, 12, 15 and 4 more`. */
function itemsText(items: readonly FleetItem[]): string {
  const [first] = items;
  if (first === undefined) return 'idle';
  if (items.length === 1) {
    const { shift, row, label, task, role } = first;
    const name = row === undefined ? '' : ` ${rowName({ row, label })}`;
    return `${oneLine(shift)}${name}: ${oneLine(task)}, ${role}`;
  }
  const shifts = [...new Set(items.map(({ shift }) => shift))];
  return shifts
    .map((shift) => `${oneLine(shift)} ${rowsText(items.filter((item) => item.shift === shift))}`)
    .join('; ');
}

function rowsText(items: readonly FleetItem[]): string {
  const rows = [...new Set(items.flatMap(({ row }) => row ?? []))].sort((a, b) => a - b);
  const more = rows.length > ROWS_SHOWN ? ` and ${rows.length - ROWS_SHOWN} more` : '';
  const lessons = items.filter(({ role }) => role === 'manager').map(({ task }) => `lessons of ${oneLine(task)}`);
  return [...(rows.length > 0 ? [`${listed('row', rows.slice(0, ROWS_SHOWN))}${more}`] : []), ...lessons].join(', ');
}

/** With 40 workers, you want to see the ones that differ. */
function offerLines(workers: readonly FleetWorker[]): string[] {
  const offers = [...new Set(workers.flatMap((worker) => worker.offers))].filter(isLasting).sort();
  const width = Math.max(0, ...offers.map((offer) => widthOf(oneLine(offer))));
  return offers.map((offer) => {
    const [having, lacking] = [true, false].map((has) => workers.filter((each) => each.offers.includes(offer) === has));
    const names = (some: readonly FleetWorker[]) => some.map(({ name }) => oneLine(name, 40)).join(', ');
    const all = `${having!.length} of ${count(workers.length, 'worker')}`;
    const who =
      lacking!.length === 0
        ? count(workers.length, 'worker')
        : having!.length <= NAMES_SHOWN
          ? names(having!)
          : `${all}${lacking!.length <= NAMES_SHOWN ? `, not ${names(lacking!)}` : ''}`;
    return `${oneLine(offer).padEnd(width)}  ${who}`;
  });
}

/** What is left of a worker's `--for` is its own, and shorter each time. */
function isLasting(offer: string): boolean {
  return !offer.startsWith('time:');
}

function totalLine({ shifts, workers }: FleetStatus): string {
  if (workers.length === 0) return 'no workers; `nightshift worker --url URL --key KEY` starts one';
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);
  const number = (fits: (worker: FleetWorker) => boolean) => workers.filter(fits).length;
  const facts = [
    [number(({ problems }) => problems.length > 0), 'with problems'],
    [number(({ mode }) => mode === 'drain'), 'draining'],
    [number(({ mode }) => mode === 'stop'), 'stopping'],
    [number(({ isSilent }) => isSilent), 'not seen'],
  ] as const;
  const notable = facts.filter(([many]) => many > 0).map(([many, what]) => `, ${many} ${what}`);
  const used = `${sum(workers.map(({ running }) => running))} of ${count(sum(workers.map(({ slots }) => slots)), 'slot')} used`;
  const waiting = `${count(sum(shifts.map(({ orders }) => orders.waiting)), 'order')} waiting`;
  const versions = new Set(workers.map(({ version }) => oneLine(version, 20)));
  const version = versions.size === 1 ? `version ${[...versions].join()}` : `${versions.size} versions`;
  return `${count(workers.length, 'worker')}${notable.join('')}; ${used}; ${waiting}; ${version}`;
}

function seenText(seconds: number, isSilent: boolean): string {
  const time = formatDuration(Math.round(seconds) * 1000);
  return isSilent ? `not seen for ${time}` : `seen ${time} ago`;
}
