import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project } from '../harness.ts';
import { openWindow } from './browser.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

/** Where to write the pictures of the README: `npm run picture:page`. */
const FOLDER = process.env.NIGHTSHIFT_PICTURES;

test('X8 the page shows the demo: its grid, and the row that fails on purpose; both make the pictures of the README', async () => {
  const project = new Project();
  expect((await project.run(['demo', 'demo', '--json'])).code).toBe(0);
  const served = await serve(new Project(project.path('demo')));
  const { page } = await openWindow({ viewport: { width: 1100, height: 620 }, deviceScaleFactor: 1 });
  await openGrid(page, served, 'night-notes');
  await eventually(() => page.locator('body').innerText()).toMatch(/23 done · 1 failed · 0 left of 24/);
  const grid = await page.screenshot();
  await page.getByRole('link', { name: 'nightjar' }).click();
  await eventually(() => page.locator('body').innerText()).toMatch(/Attempt 3[\s\S]*has no title line/);
  const item = await page.screenshot();
  if (FOLDER === undefined) return;
  writeFileSync(`${FOLDER}/page-grid.png`, grid);
  writeFileSync(`${FOLDER}/page-item.png`, item);
});
