import type { ReportRow, ReportTable } from '../../app/report/report.ts';
import type { Result } from '../../core/folds/results.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { STATUSES } from '../../core/model/status.ts';
import { count } from '../../core/text/count.ts';
import { workerText } from '../row-name.ts';
import { Html, html } from './html.ts';
import { dollars } from './verdict.ts';

/** The table with an excerpt for each item, as large as fits. */
export interface ItemTable {
  readonly html: Html;
  /** What did not fit, in words; undefined if everything is there. */
  readonly leftOut: string | undefined;
}

/** `most`: how many bytes it may have. If not all fits, rows that failed come first, and only they have details. */
export function itemTable(table: ReportTable, most: number): ItemTable {
  const isLarge = estimate(table) > most;
  const first = new Pieces(most);
  const others = new Pieces(most);
  for (const row of table.rows()) {
    if (!isLarge || hasFailed(row)) first.add(rowHtml(row, true).text);
    else if (!others.isFull) others.add(rowHtml(row, false).text);
  }
  const shown = others.within(most - first.bytes);
  return {
    html: html`${filterForm()}
<div class="scroll" tabindex="0" role="region" aria-label="All rows"><table id="items">
${headHtml(table)}
${Html.trusted([...first.all, ...shown].join('\n'))}
</table></div>`,
    leftOut: leftOutText(table.count - first.all.length - shown.length, shown.length),
  };
}

/** Pieces of text that are together at most so many bytes. */
class Pieces {
  readonly all: string[] = [];
  readonly #most: number;
  bytes = 0;
  isFull = false;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: string): void {
    const bytes = Buffer.byteLength(piece) + 1;
    this.isFull ||= this.bytes + bytes > this.#most;
    if (this.isFull) return;
    this.bytes += bytes;
    this.all.push(piece);
  }

  /** As many of them as fit. */
  within(most: number): readonly string[] {
    const fitting = new Pieces(most);
    for (const piece of this.all) fitting.add(piece);
    return fitting.all;
  }
}

function leftOutText(rows: number, bare: number): string | undefined {
  const parts = [
    ...(rows > 0 ? [`${count(rows, 'row')}`] : []),
    ...(bare > 0 ? [`the details of ${count(bare, 'row')}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(' and ');
}

/** From the first rows: whether all of them will fit. */
function estimate({ rows, count }: ReportTable): number {
  let length = 0;
  let read = 0;
  for (const row of rows()) {
    length += Buffer.byteLength(rowHtml(row, true).text);
    if (++read === 1000) break;
  }
  return read === 0 ? 0 : (length / read) * count;
}

function hasFailed({ results }: ReportRow): boolean {
  return results.some(({ status }) => status === 'failed');
}

function filterForm(): Html {
  const options = STATUSES.map((status) => html`<option>${status}</option>`);
  return html`<form id="filter" class="filter" hidden>
<label>Search <input name="text" type="search"></label>
<label>Status <select name="status"><option value="">any</option>${options}</select></label>
<output id="shown"></output>
</form>`;
}

function headHtml({ columns, tasks }: ReportTable): Html {
  const names = columns.map((name) => html`<th scope="col">${name}</th>`);
  const statuses = tasks.map((name) => html`<th scope="col">${name}</th>`);
  return html`<thead><tr><th scope="col" class="number">row</th>${names}${statuses}<th scope="col" class="number">time</th><th scope="col" class="number">cost</th></tr></thead>`;
}

function rowHtml({ row, cells, results, output }: ReportRow, withDetails: boolean): Html {
  const has = [...new Set(results.map(({ status }) => `has-${status}`))].join(' ');
  const details = withDetails ? detailsHtml(results, output) : undefined;
  const width = 1 + cells.length + results.length + 2;
  return html`<tbody class="${has}"><tr><td class="number">${row}</td>${cells.map((cell) => html`<td>${cell}</td>`)}${results.map(
    statusHtml,
  )}<td class="number">${timeText(results)}</td><td class="number">${costText(results)}</td></tr>${
    details && html`<tr class="more"><td></td><td colspan="${width - 1}">${details}</td></tr>`
  }</tbody>`;
}

function statusHtml({ status, attempts, worker }: Result): Html {
  const kind = status === 'done' || status === 'failed' ? status : 'left';
  const tries = attempts > 1 ? ` (${attempts} attempts)` : '';
  return html`<td class="${kind}">${status}${tries}${status === 'todo' ? '' : workerText(worker)}</td>`;
}

function detailsHtml(results: readonly Result[], output: string | undefined): Html | undefined {
  const reasons = results.flatMap(({ task, reason }) =>
    reason === undefined ? [] : [html`<p>${task}: ${reason}</p>`],
  );
  const captured = results.flatMap(({ captured: values }) => Object.entries(values));
  const values = captured.map(([name, value]) => html`<p class="soft">${name}: ${value.slice(0, 300)}</p>`);
  const said = output === undefined || output === '' ? undefined : html`<pre>${output}</pre>`;
  if (reasons.length + values.length === 0 && said === undefined) return undefined;
  return html`${reasons}<details><summary class="soft">details</summary>${values}${said}</details>`;
}

function timeText(results: readonly Result[]): string {
  const times = results.flatMap(({ ms }) => (ms === undefined ? [] : [ms]));
  return times.length === 0 ? '' : formatDuration(times.reduce((a, b) => a + b));
}

function costText(results: readonly Result[]): string {
  const costs = results.flatMap(({ usage }) => (usage.costUsd === undefined ? [] : [usage.costUsd]));
  return costs.length === 0 ? '' : dollars(costs.reduce((a, b) => a + b));
}
