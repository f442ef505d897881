import type { ChartsAnswer } from '../../core/page/history-answers.ts';
import { usageText } from '../summary.ts';
import { type Html, html } from './html.ts';

const WIDTH = 400;
const HEIGHT = 140;
const MARGIN = { left: 40, right: 8, top: 8, bottom: 20 };

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The charts of a report, as pictures that also print; undefined if there is nothing to draw. */
export function chartsHtml(charts: ChartsAnswer, timeOf: (at: number) => string): Html | undefined {
  const figures = [
    burnDown(charts, timeOf),
    concurrency(charts, timeOf),
    durations(charts, timeOf),
    firstAttempts(charts),
  ].filter((figure) => figure !== undefined);
  const spend = charts.spend.map(({ role, agent, model, usage }) => {
    return html`<tr><td>${role}</td><td>${agent}</td><td>${model ?? ''}</td><td>${usageText(usage) ?? 'not reported'}</td></tr>`;
  });
  if (figures.length + spend.length === 0) return undefined;
  return html`<div class="charts">${figures}</div>${
    spend.length > 0 &&
    html`<h3>Spent by role and model</h3><table><thead><tr><th scope="col">role</th><th scope="col">agent</th><th scope="col">model</th><th scope="col">spent</th></tr></thead><tbody>${spend}</tbody></table>`
  }`;
}

function burnDown({ burnDown: points }: ChartsAnswer, timeOf: (at: number) => string): Html | undefined {
  if (points.length < 2) return undefined;
  const at = points.map((point) => Date.parse(point.at));
  const lines = [
    { kind: 'left', points: points.map(({ left }, i) => ({ x: at[i]!, y: left })) },
    { kind: 'failed', points: points.map(({ failed }, i) => ({ x: at[i]!, y: failed })) },
  ];
  return lineChart('Item-tasks left, and failed (red)', lines, timeOf);
}

function concurrency({ concurrency: changes }: ChartsAnswer, timeOf: (at: number) => string): Html | undefined {
  if (changes.length < 2) return undefined;
  // A size holds until it changes.
  const points = changes.flatMap(({ at, size }, i): Point[] => {
    const before = changes[i - 1];
    const x = Date.parse(at);
    return before
      ? [
          { x, y: before.size },
          { x, y: size },
        ]
      : [{ x, y: size }];
  });
  return lineChart('Items at once', [{ kind: 'left', points }], timeOf);
}

function lineChart(
  title: string,
  lines: readonly { readonly kind: string; readonly points: readonly Point[] }[],
  timeOf: (at: number) => string,
): Html {
  const all = lines.flatMap(({ points }) => points);
  const xs = rangeOf(all.map(({ x }) => x));
  const ys = { from: 0, to: rangeOf(all.map(({ y }) => y)).to };
  const drawn = lines.map(({ kind, points }) => {
    const corners = points.map((point) => `${place(point.x, xs, 'x')},${place(point.y, ys, 'y')}`);
    return html`<polyline class="stroke-${kind}" points="${corners.join(' ')}"/>`;
  });
  return figure(title, html`${axes(xs, ys, timeOf, String)}${drawn}`);
}

function durations({ items }: ChartsAnswer, timeOf: (at: number) => string): Html | undefined {
  if (items.length < 2) return undefined;
  const xs = rangeOf(items.map(({ at }) => Date.parse(at)));
  const ys = { from: 0, to: rangeOf(items.map(({ ms }) => ms)).to };
  const dots = items.map(({ at, ms, status, row, task }) => {
    const kind = status === 'done' || status === 'failed' ? status : 'left';
    return html`<circle class="fill-${kind}" cx="${place(Date.parse(at), xs, 'x')}" cy="${place(ms, ys, 'y')}" r="2"><title>row ${row}, ${task}</title></circle>`;
  });
  return figure('Time of each item-task', html`${axes(xs, ys, timeOf, seconds)}${dots}`);
}

function firstAttempts({ firstAttempts: tasks }: ChartsAnswer): Html | undefined {
  const known = tasks.flatMap(({ task, tenths }) => (tenths === null ? [] : [{ task, tenths }]));
  if (known.length === 0) return undefined;
  const charts = known.map(({ task, tenths }) => {
    const width = (WIDTH - MARGIN.left - MARGIN.right) / tenths.length;
    const bars = tenths.map(({ succeeded, ended }, i) => {
      const share = ended === 0 ? 0 : succeeded / ended;
      const y = place(share, { from: 0, to: 1 }, 'y');
      const height = HEIGHT - MARGIN.bottom - y;
      return html`<rect class="fill-done" x="${round(MARGIN.left + i * width + 1)}" y="${y}" width="${round(width - 2)}" height="${round(height)}"><title>${succeeded} of ${ended}</title></rect>`;
    });
    const ends = axes(
      { from: 0, to: 100 },
      { from: 0, to: 1 },
      (x) => `${x} %`,
      (y) => `${Math.round(y * 100)} %`,
    );
    return figure(`${task}: done on the first attempt, by tenth of the table`, html`${ends}${bars}`);
  });
  return html`${charts}`;
}

function figure(title: string, content: Html): Html {
  return html`<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${content}</svg><figcaption>${title}</figcaption></figure>`;
}

function axes(xs: Range, ys: Range, xText: (x: number) => string, yText: (y: number) => string): Html {
  const bottom = HEIGHT - MARGIN.bottom;
  const right = WIDTH - MARGIN.right;
  return html`<line class="axis" x1="${MARGIN.left}" y1="${bottom}" x2="${right}" y2="${bottom}"/>
<line class="axis" x1="${MARGIN.left}" y1="${MARGIN.top}" x2="${MARGIN.left}" y2="${bottom}"/>
<text x="${MARGIN.left}" y="${HEIGHT - 6}">${xText(xs.from)}</text><text x="${right}" y="${HEIGHT - 6}" text-anchor="end">${xText(xs.to)}</text>
<text x="${MARGIN.left - 4}" y="${MARGIN.top + 8}" text-anchor="end">${yText(ys.to)}</text><text x="${MARGIN.left - 4}" y="${bottom}" text-anchor="end">${yText(ys.from)}</text>`;
}

function place(value: number, { from, to }: Range, axis: 'x' | 'y'): number {
  const share = to === from ? 0 : (value - from) / (to - from);
  if (axis === 'x') return round(MARGIN.left + share * (WIDTH - MARGIN.left - MARGIN.right));
  return round(HEIGHT - MARGIN.bottom - share * (HEIGHT - MARGIN.top - MARGIN.bottom));
}

function rangeOf(values: readonly number[]): Range {
  return values.reduce(({ from, to }, value) => ({ from: Math.min(from, value), to: Math.max(to, value) }), {
    from: values[0] ?? 0,
    to: values[0] ?? 0,
  });
}

function seconds(ms: number): string {
  return ms >= 60_000 ? `${Math.round(ms / 60_000)}m` : `${round(ms / 1000)}s`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
