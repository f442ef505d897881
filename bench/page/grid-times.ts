import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { writeFinishedRuns } from '../../test/kit/finished-run.ts';
import { launchChromium } from '../../test/page/chromium.ts';
import { atMost, type Figure } from '../figure.ts';
import { medianOf, ms } from '../measure.ts';
import { Project, SHIFT, STREAM, wideTable } from '../project.ts';
import { servePage } from './served-page.ts';

const ROUNDS = 5;
const [FEW, MANY] = [1000, 100_000];
/** One row of so many has failed. */
const FAILED_SHARE = 50;
const PAUSE_MS = 1000;

/** In milliseconds. */
interface GridTimes {
  readonly first: number;
  readonly end: number;
  readonly failed: number;
  readonly search: number;
}

const STEPS: readonly { readonly name: keyof GridTimes; readonly what: string; readonly ratio: number }[] = [
  { name: 'first', what: 'the first rows of the grid appear, with a server that was just started', ratio: 2 },
  { name: 'end', what: 'jump to the last row', ratio: 3 },
  { name: 'failed', what: 'filter `failed`', ratio: 3 },
  { name: 'search', what: 'search for the name of one row', ratio: 3 },
];

/** What the size of the table costs in a browser. */
export async function gridTimes(): Promise<Figure[]> {
  using few = await finishedProject(FEW);
  using many = await finishedProject(MANY);
  const browser = await launchChromium();
  const taken: { readonly few: GridTimes; readonly many: GridTimes }[] = [];
  try {
    // The first window of a browser is slow.
    await visit(browser, few, FEW);
    for (let round = 0; round < ROUNDS; round++) {
      taken.push({ few: await visit(browser, few, FEW), many: await visit(browser, many, MANY) });
    }
  } finally {
    await browser.close();
  }
  return STEPS.map(({ name, what, ratio }) => {
    const [ours, other] = [medianOf(taken.map(({ many }) => many[name])), medianOf(taken.map(({ few }) => few[name]))];
    return {
      what: `${what}, ${MANY} rows`,
      ours: ms(ours),
      other: `${FEW} rows: ${ms(other)}`,
      ratio: ours / other,
      target: atMost(ratio),
    };
  });
}

/** All rows have ended; the journal has about 2 KB for each. */
async function finishedProject(rows: number): Promise<Project> {
  let row = 0;
  const table = wideTable(rows).replace(/todo$/gm, () => (row++ % FAILED_SHARE === 7 ? 'failed' : 'done'));
  const project = new Project({ settings: STREAM, table, step: 'true' });
  await writeFinishedRuns(project.root, SHIFT);
  return project;
}

/** One thing after the other, each a second after the last one: nobody is faster. */
async function visit(browser: Browser, project: Project, rows: number): Promise<GridTimes> {
  await using served = await servePage(project);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const address = new URL(served.url);
  address.searchParams.set('shift', SHIFT);
  await page.goto(address.href, { waitUntil: 'commit' });
  const count = (matching: number) =>
    `document.querySelector('.matching')?.textContent === '${matching.toLocaleString('en')} of ${rows.toLocaleString('en')} rows'`;
  const first = await page.evaluate<number>(`${UNTIL}; until(() => ${hasRow(1)})`);
  const end = await timeOf(page, JUMP, hasRow(rows));
  const failed = await timeOf(page, CLICK_FAILED, `${count(rows / FAILED_SHARE)} && ${hasRow(8)}`);
  const search = await timeOf(page, searchFor(nameOf(rows - 42)), `${count(1)} && ${hasRow(rows - 42)}`);
  await context.close();
  return { first, end, failed, search };
}

/** In the window, because what Playwright waits for is looked at too rarely. */
const UNTIL = `globalThis.until = (isSo) => new Promise((resolve, reject) => {
  const look = () => (isSo() ? resolve(performance.now()) : requestAnimationFrame(look));
  look();
  setTimeout(() => reject(new Error('not within a minute: ' + isSo)), 60_000);
})`;
const JUMP = `document.querySelector('.scroller').scrollTop = 1e9`;
const CLICK_FAILED = `[...document.querySelectorAll('.chip')].find((chip) => /failed/.test(chip.textContent)).click()`;

async function timeOf(page: Page, action: string, isSo: string): Promise<number> {
  await sleep(PAUSE_MS);
  return await page.evaluate<number>(`(async () => {
    const begun = performance.now();
    ${action};
    return (await until(() => ${isSo})) - begun;
  })()`);
}

function searchFor(text: string): string {
  return `const field = document.querySelector('#search');
    field.value = '${text}';
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))`;
}

const nameOf = (row: number) => `item-${String(row).padStart(7, '0')}`;

const hasRow = (row: number) =>
  `[...document.querySelectorAll('[role=row] a')].some((link) => link.textContent.includes('${nameOf(row)}'))`;
