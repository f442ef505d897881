import { expect, test } from 'vitest';
import type { Report, ReportRow } from '../../app/report/report.ts';
import type { Result } from '../../core/folds/results.ts';
import type { Status } from '../../core/model/status.ts';
import { Html, html } from './html.ts';
import { markdownReport } from './markdown.ts';
import { reportHtml } from './report-html.ts';

const FAILURES = 1000;

/** A shift of many rows with long cells; those that `fails` names failed, each for its own reason. */
function largeReport(count: number, cell: string, fails: (row: number) => boolean): Report {
  const items = Array.from({ length: FAILURES }, (_, i) => ({ row: i + 1, attempts: 3 }));
  const groups = Array.from({ length: FAILURES }, (_, i) => {
    const reason = `${i}: ${'é|'.repeat(5000)}`;
    return { task: 'work', reason, items, examples: [{ row: i + 1, label: undefined, reason, output: 'x' }] };
  });
  const states = { waiting: 0, firm: 0, retired: 0, held: 0, pinned: 0, banned: 0 };
  const status = {
    shift: 'night',
    counts: { total: count, completed: 0, failed: count, remaining: 0 },
    tasks: [{ task: 'work', counts: { todo: 0, in_progress: 0, qa: 0, done: 0, failed: count } }],
    failures: groups,
    usage: {},
    ms: 1000,
    putBack: [],
    limits: {},
    learning: { states },
    workspaces: { held: 0, kept: 0 },
  };
  const row = (number: number): ReportRow => {
    const state: Status = fails(number) ? 'failed' : 'done';
    const result = {
      row: number,
      item: '',
      metadata: {},
      task: 'work',
      status: state,
      attempts: 1,
      captured: {},
      usage: {},
    };
    return { row: number, label: undefined, cells: [cell], results: [result satisfies Result], output: cell };
  };
  const rows = function* () {
    for (let number = 1; number <= count; number++) yield row(number);
  };
  const charts = { isPartial: false, runs: [], burnDown: [], concurrency: [], items: [], itemsLeftOut: 0 };
  return {
    at: 0,
    status,
    limits: [],
    account: undefined,
    newlyFailing: [],
    passingAgain: [],
    groups,
    steps: [],
    charts: { ...charts, firstAttempts: [], spend: [] },
    table: { columns: ['text'], tasks: ['work'], count, rows },
    provenance: [],
  } as unknown as Report;
}

test('X8 a report has at most 20 MB: rows that failed are in it, and it says what is left out', () => {
  const text = reportHtml(largeReport(30_000, '日本'.repeat(150), (row) => row % 1000 === 0));
  expect(Buffer.byteLength(text)).toBeLessThan(20_000_000);
  expect(Buffer.byteLength(text)).toBeGreaterThan(15_000_000);
  expect(text.match(/<tbody class="has-failed">/g)).toHaveLength(30);
  const [, rows, bare] = /Left out, because a report has at most 20 MB: (\d+) rows and the details of (\d+) rows/.exec(
    text,
  )!;
  expect(text.match(/<tbody class="has-done"/g)).toHaveLength(Number(bare));
  expect(Number(rows) + Number(bare)).toBe(30_000 - 30);
});

test('X8 the short form fits on a page, however many rows fail for however many reasons', () => {
  const text = markdownReport(largeReport(1000, '', () => true)).join('\n');
  expect(Buffer.byteLength(text)).toBeLessThan(1 << 18);
  expect(text).toContain('| 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 980 more | 3 |');
  expect(text).toContain('950 more reasons.');
});

test('S10 a value in a template is text, whatever it holds', () => {
  const hostile = `<script>&"'\u0000\u202e`;
  expect(html`<p title="${hostile}">${hostile}</p>${[html`<b>${1}</b>`, undefined]}${false}`.text).toBe(
    '<p title="&lt;script&gt;&amp;&quot;&#39;\uFFFD\uFFFD">&lt;script&gt;&amp;&quot;&#39;\uFFFD\uFFFD</p><b>1</b>',
  );
  expect(html`${Html.trusted('<br>')}`.text).toBe('<br>');
});
