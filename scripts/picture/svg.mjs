const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const TITLE_BAR = 30;
/** The run is played slower or faster than it was, so that a loop takes the same time on any machine. */
const PLAY = { before: 1000, run: 9500, after: 4000 };
const LOOP = PLAY.before + PLAY.run + PLAY.after;
const SHORTEST_FRAME = 120;

/**
 * An SVG that plays frames of a terminal in a loop: CSS only, text as text. It has its own background, so it can be
 * read on light and dark pages. The frames stand side by side, and a film of them moves behind the window.
 */
export function drawSvg(frames, { columns, rows }) {
  const width = Math.round(columns * CELL.width + 2 * MARGIN);
  const height = TITLE_BAR + rows * CELL.height + MARGIN;
  const shown = fewer(timed(frames));
  const lines = new Map();
  const film = shown.map((frame, i) => `<g transform="translate(${i * width})">${linesOf(frame.rows, lines)}</g>`);
  const keys = shown.map(({ at }, i) => `${round((100 * at) / LOOP)}%{transform:translateX(${-i * width}px)}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" xml:space="preserve" role="img">
<title>nightshift demo in a terminal</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d1d7e0;white-space:pre}
.bold{font-weight:700;fill:#fff}.dim{fill:#8b949e}.red{fill:#ff7b72}.green{fill:#56d364}.yellow{fill:#e3b341}.cyan{fill:#76e3ea}
.film{animation:film ${LOOP / 1000}s steps(1,end) infinite}
@keyframes film{${keys.join('')}}
@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(${-(shown.length - 1) * width}px)}}
</style>
<defs>
${[...lines].map(([text, id]) => text.replace('<text', `<text id="${id}"`)).join('\n')}
</defs>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#3d444d"/>
<circle cx="20" cy="16" r="5" fill="#ff5f57"/><circle cx="38" cy="16" r="5" fill="#febc2e"/><circle cx="56" cy="16" r="5" fill="#28c840"/>
<g class="film">
${film.join('\n')}
</g>
</svg>
`;
}

/** With the time at which each frame begins in the loop. */
function timed(frames) {
  const length = frames.at(-1).at;
  return frames.map(({ at, rows }, i) => ({
    at: i === 0 ? 0 : Math.round(PLAY.before + (PLAY.run * at) / length),
    rows,
  }));
}

/** A frame that is replaced almost at once is left out. */
function fewer(frames) {
  return frames.filter(({ at }, i) => i === 0 || i === frames.length - 1 || frames[i + 1].at - at >= SHORTEST_FRAME);
}

/** A line that occurs in several frames is stored once. */
function linesOf(rows, lines) {
  return rows
    .map((spans, row) => {
      if (spans.length === 0) return '';
      const text = textOf(spans);
      const id = lines.get(text) ?? `l${lines.size}`;
      lines.set(text, id);
      return `<use href="#${id}" y="${TITLE_BAR + (row + 1) * CELL.height - 5}"/>`;
    })
    .join('');
}

/** `textLength` keeps the columns where they are, whatever font the reader has. */
function textOf(spans) {
  const length = [...spans.map(({ text }) => text).join('')].length;
  const parts = spans.map(({ text, style }) =>
    style ? `<tspan class="${style}">${escaped(text)}</tspan>` : escaped(text),
  );
  const attributes = `x="${MARGIN}" textLength="${round(length * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text ${attributes}>${parts.join('')}</text>`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(number) {
  return Math.round(number * 100) / 100;
}
