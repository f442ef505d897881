import type { Excerpt, Report, ReportGroup } from '../../app/report/report.ts';
import type { Repeated, Turn } from '../../core/folds/run-account.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { STATUSES } from '../../core/model/status.ts';
import { count } from '../../core/text/count.ts';
import { rowName } from '../row-name.ts';
import { failedRows } from '../summary.ts';
import { Html, html } from './html.ts';
import { groupCommands, groupTitle, needsOf } from './needs-you.ts';
import { moneyOf } from './verdict.ts';

const GROUPS_SHOWN = 50;
const TURNS_SHOWN = 50;
const REPEATED_SHOWN = 20;

/** The figures that answer "how far is it, and what did it cost". */
export function cardsHtml(report: Report): Html {
  const { completed, failed, remaining } = report.status.counts;
  const money = moneyOf(report);
  const waited = report.account?.waitedMs ?? 0;
  const cards = [
    card(String(completed), 'done', 'done'),
    card(String(failed), 'failed', failed > 0 ? 'failed' : ''),
    card(String(remaining), 'left', ''),
    money && card(money.spent, money.limit === undefined ? 'spent, no limit' : `spent of ${money.limit}`, ''),
    money?.perItem !== undefined && card(money.perItem, 'for each item that is done', ''),
    card(formatDuration(report.status.ms), 'of work in all runs', ''),
    waited > 0 && card(formatDuration(waited), 'waited in this run', ''),
  ];
  return html`<ul class="cards">${cards}</ul>`;
}

function card(value: string, what: string, kind: string): Html {
  return html`<li><strong class="${kind}">${value}</strong> ${what}</li>`;
}

export function tasksHtml({ status }: Report): Html {
  const head = STATUSES.map((name) => html`<th scope="col" class="number">${name}</th>`);
  const rows = status.tasks.map(({ task, counts }) => {
    const cells = STATUSES.map((name) => html`<td class="number">${counts[name]}</td>`);
    return html`<tr><th scope="row">${task}</th>${cells}</tr>`;
  });
  return html`<table><thead><tr><th scope="col">task</th>${head}</tr></thead><tbody>${rows}</tbody></table>`;
}

export function needsHtml(report: Report): Html {
  const { groups } = report;
  const needs = needsOf(report).map(({ text, command }) => html`<p>${text} <code>${command}</code></p>`);
  if (groups.length + needs.length === 0) return html`<p>Nothing.</p>`;
  const hidden = groups.length - GROUPS_SHOWN;
  return html`${groups.slice(0, GROUPS_SHOWN).map((group) => groupHtml(report.status.shift, group))}${
    hidden > 0 && html`<p class="soft">${count(hidden, 'more reason')}; the table below has all failed rows.</p>`
  }${needs}`;
}

function groupHtml(shift: string, group: ReportGroup): Html {
  const commands = groupCommands(shift, group).map((command) => html`<p><code>${command}</code></p>`);
  return html`<div class="group"><h3>${groupTitle(group)}</h3>
${group.items.length > 1 && html`<p class="soft">rows ${failedRows(group.items)}</p>`}
${group.examples.map((example, i) => exampleHtml(example, i === 0))}${commands}</div>`;
}

function exampleHtml({ row, label, reason, output }: Excerpt, isOpen: boolean): Html {
  return html`<details${isOpen && Html.trusted(' open')}><summary>${rowName({ row, label })}</summary><pre>${reason}</pre>${
    output !== '' && html`<p class="soft">The end of its output:</p><pre>${output}</pre>`
  }</details>`;
}

/** What is different from the run before; undefined if nothing is. */
export function turnsHtml({ newlyFailing, passingAgain }: Report): Html | undefined {
  if (newlyFailing.length + passingAgain.length === 0) return undefined;
  return html`${turnList('Newly failing', newlyFailing)}${turnList('Passing again', passingAgain)}`;
}

function turnList(title: string, turns: readonly Turn[]): Html | false {
  if (turns.length === 0) return false;
  const shown = turns.slice(0, TURNS_SHOWN).map(({ task, label, row }) => {
    return html`<li>${task}, ${rowName({ row, label })}</li>`;
  });
  const more = turns.length - shown.length;
  return html`<h3>${title}: ${turns.length}</h3><ul>${shown}${more > 0 && html`<li>and ${more} more</li>`}</ul>`;
}

/** What went wrong and was not the items' fault; undefined if nothing did. */
export function troubleHtml({ account }: Report): Html | undefined {
  if (!account) return undefined;
  const { troubles, waits, warnings } = account;
  if (troubles.length + waits.length + warnings.length === 0) return undefined;
  return html`${repeatedHtml('Items given back', troubles)}${repeatedHtml('Pauses', waits)}${repeatedHtml(
    'Warnings',
    warnings,
  )}`;
}

function repeatedHtml(title: string, repeated: readonly Repeated[]): Html | false {
  if (repeated.length === 0) return false;
  const shown = repeated.slice(0, REPEATED_SHOWN).map(({ text, times, ms }) => {
    const how = [times > 1 ? `${times} times` : '', ms > 0 ? formatDuration(ms) : ''].filter((part) => part !== '');
    return html`<li>${text}${how.length > 0 && html` <span class="soft">(${how.join(', ')})</span>`}</li>`;
  });
  const more = repeated.length - shown.length;
  return html`<h3>${title}</h3><ul>${shown}${more > 0 && html`<li>and ${more} more</li>`}</ul>`;
}

export function judgedHtml({ account }: Report): Html | undefined {
  if (!account) return undefined;
  const { byCheck, byAgent, byBoth } = account.judged;
  if (byCheck + byAgent + byBoth === 0) return undefined;
  const parts = [
    [byCheck, 'by checks alone'],
    [byAgent, 'by an agent alone'],
    [byBoth, 'by checks and an agent'],
  ] as const;
  const shown = parts.filter(([number]) => number > 0).map(([number, how]) => `${number} ${how}`);
  return html`<p>Item-tasks that passed in this run were judged: ${shown.join(', ')}.</p>`;
}

/** What was learned in the run; undefined if nothing was. */
export function lessonsHtml({ account, steps }: Report): Html | undefined {
  const lessons = account?.lessons ?? [];
  if (lessons.length + steps.length === 0) return undefined;
  const changes = lessons.map(({ id, task, text, from, to, reason }) => {
    return html`<li><strong>${id}</strong> (${task}) ${from === undefined ? 'new' : from} → ${to}: ${text}${
      reason !== undefined && html` <span class="soft">${reason}</span>`
    }</li>`;
  });
  const diffs = steps.map(({ task, lines }) => {
    return html`<h3>Steps of ${task}</h3><pre>${lines.map(diffLine)}</pre>`;
  });
  return html`${changes.length > 0 && html`<ul>${changes}</ul>`}${diffs}`;
}

function diffLine(line: string): Html {
  const kind = line.startsWith('+') ? 'plus' : line.startsWith('-') ? 'minus' : 'soft';
  return html`<span class="${kind}">${line}</span>\n`;
}

export function provenanceHtml({ provenance }: Report): Html {
  const rows = provenance.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  return html`<table><tbody>${rows}</tbody></table>`;
}
