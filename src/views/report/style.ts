/** The style of a report: light and dark by the system's setting, and for paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #1d2430; --soft: #566072; --page: #fff; --box: #f5f6f8; --line: #d9dde4;
  --done: #1a7f4b; --failed: #b3261e; --left: #6b7280; --accent: #2456c6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ef; --soft: #a0a9b8; --page: #14171c; --box: #1d2128; --line: #343a45;
    --done: #57c98a; --failed: #ff8a80; --left: #9aa3b2; --accent: #8fb4ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 75rem; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2.2rem 0 .6rem; font-size: 1.15rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { margin: 1rem 0 .3rem; font-size: 1rem; }
p { margin: .4rem 0; }
.verdict { font-size: 1.15rem; }
.soft { color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; padding: 0; list-style: none; }
.cards li { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem; min-width: 8rem; }
.cards strong { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.done { color: var(--done); } .failed { color: var(--failed); } .left { color: var(--left); }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
code { background: var(--box); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere; }
pre { background: var(--box); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem; margin: .4rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre .plus { color: var(--done); } pre .minus { color: var(--failed); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
tr:has(+ .more) td { border-bottom: 0; }
.more td { padding-top: 0; font-size: .85em; }
th { color: var(--soft); font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; }
.scroll { overflow-x: auto; }
details > summary { cursor: pointer; }
.group { border-left: 4px solid var(--failed); padding-left: .9rem; margin: 1.2rem 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem; }
figcaption { color: var(--soft); }
svg { width: 100%; height: auto; }
svg .axis { stroke: var(--line); } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
svg .stroke-done { stroke: var(--done); } svg .stroke-failed { stroke: var(--failed); }
svg .stroke-left { stroke: var(--accent); } svg polyline { fill: none; stroke-width: 1.5; }
svg .fill-done { fill: var(--done); } svg .fill-failed { fill: var(--failed); } svg .fill-left { fill: var(--accent); }
.filter { display: flex; flex-wrap: wrap; gap: .6rem; margin: .5rem 0; }
.filter input, .filter select { font: inherit; padding: .3rem .5rem; color: inherit; background: var(--box);
  border: 1px solid var(--line); border-radius: .35rem; }
[hidden] { display: none !important; }
@media (max-width: 40rem) {
  body { padding: 1rem; }
  .cards { display: grid; grid-template-columns: repeat(3, 1fr); gap: .5rem; }
  .cards li { min-width: 0; padding: .4rem .6rem; overflow-wrap: anywhere; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11px; }
  .filter { display: none; }
  h2, h3 { break-after: avoid; } figure, .group, tr { break-inside: avoid; }
}
`;
