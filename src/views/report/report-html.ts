import type { Report } from '../../app/report/report.ts';
import { localTime } from '../../core/text/local-time.ts';
import { sourceHash } from '../../core/text/source-hash.ts';
import { chartsHtml } from './charts.ts';
import { Html, html } from './html.ts';
import { itemTable } from './item-table.ts';
import { SCRIPT } from './script.ts';
import {
  cardsHtml,
  judgedHtml,
  lessonsHtml,
  needsHtml,
  provenanceHtml,
  tasksHtml,
  troubleHtml,
  turnsHtml,
} from './sections.ts';
import { STYLE } from './style.ts';
import { verdictOf } from './verdict.ts';

/** A report is mailed and attached: it has at most so many bytes. */
const MOST = 20_000_000;
/** The head with style and script. */
const HEAD = 20_000;

/** One file without anything from outside. Nothing in it runs but our own script, which filters the table. */
export function reportHtml(report: Report): string {
  const { status, at } = report;
  const around = Buffer.byteLength(bodyHtml(report, Html.trusted(''), undefined).text);
  const { html: items, leftOut } = itemTable(report.table, MOST - HEAD - around);
  const policy = `default-src 'none'; style-src '${sourceHash(STYLE)}'; script-src '${sourceHash(SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<title>${status.shift}, ${localTime(at)}</title>
<style>${Html.trusted(STYLE)}</style>
</head>
<body>
${bodyHtml(report, items, leftOut)}
<script>${Html.trusted(SCRIPT)}</script>
</body>
</html>
`.text;
}

function bodyHtml(report: Report, items: Html, leftOut: string | undefined): Html {
  const { status, at, account, limits } = report;
  const since = account?.started ? `run of ${localTime(account.started.at)}` : 'not run yet';
  return html`<header><h1>${status.shift}</h1><p class="soft">${since}, report of ${localTime(at)}</p></header>
<main>
<p class="verdict">${verdictOf(report)}</p>
${cardsHtml(report)}
${limits.length > Number(status.limits['max-cost'] !== undefined) && html`<p class="soft">Limits: ${limits.join(', ')}</p>`}
${section('What needs you', needsHtml(report))}
${section('Tasks', html`${tasksHtml(report)}${judgedHtml(report)}`)}
${section('Changed since the run before', turnsHtml(report))}
${section('Trouble that was not the items’ fault', troubleHtml(report))}
${section('Learned', lessonsHtml(report))}
${section(
  'Charts',
  chartsHtml(report.charts, (time) => localTime(time, at)),
)}
${section('All rows', html`${leftOut !== undefined && leftOutHtml(status.shift, leftOut)}${items}`)}
${section('Where this comes from', provenanceHtml(report))}
</main>`;
}

function leftOutHtml(shift: string, leftOut: string): Html {
  return html`<p>Left out, because a report has at most 20 MB: ${leftOut}. <code>nightshift export ${shift} --csv FILE</code> has every row.</p>`;
}

function section(title: string, content: Html | undefined): Html | undefined {
  return content && html`<section><h2>${title}</h2>${content}</section>`;
}
