// The animated picture in the README: a recorded run of the demo, drawn by the program's own live view.
//
//   npm run picture -- --record        run the demo, keep what happened, and draw it
//   npm run picture                    draw the recorded run again, after a change of the view
//   node scripts/picture.mjs --check   fail if the view would draw something else today; uses `dist` as it is
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The view shows local times.
process.env.TZ = 'UTC';
const { record } = await import('./picture/record.mjs');
const { replay } = await import('./picture/replay.mjs');
const { drawSvg } = await import('./picture/svg.mjs');

const RECORDING = fileURLToPath(new URL('picture/demo-run.jsonl', import.meta.url));
const PICTURE = fileURLToPath(new URL('../docs/assets/demo.svg', import.meta.url));
const WINDOW = { columns: 96, rows: 26 };

const [flag] = process.argv.slice(2);
if (flag === '--record') writeFileSync(RECORDING, lines(await record()));
const recorded = readFileSync(RECORDING, 'utf8').trimEnd().split('\n');
const svg = drawSvg(
  replay(
    recorded.map((line) => JSON.parse(line)),
    WINDOW,
  ),
  WINDOW,
);
if (flag !== '--check') {
  writeFileSync(PICTURE, svg);
  console.log(`docs/assets/demo.svg: ${Math.ceil(svg.length / 1024)} KB`);
} else if (svg !== readFileSync(PICTURE, 'utf8')) {
  console.error('docs/assets/demo.svg is out of date: the live view draws something else today.');
  console.error('Run `npm run picture`, look at the picture, and commit it.');
  console.error('If events have changed, run `npm run picture -- --record`.');
  process.exitCode = 1;
}

function lines(entries) {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}
