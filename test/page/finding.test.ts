import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { openWindow } from './browser.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

const bodyOf = (page: Page) => eventually(() => page.locator('body').innerText());
const firstRow = (page: Page) => eventually(() => page.getByRole('row').nth(1).innerText());
const open = (page: Page, screen: string) => page.getByRole('link', { name: screen, exact: true }).first().click();

test('X8 a column is chosen, rows are sorted and filtered by a failure group, a dot of a chart leads to its row, and events are filtered', async () => {
  const project = new Project();
  const fails = 'case {name} in owl) echo "no nest"; exit 1;; fox) echo "no den"; exit 1;; esac';
  const shift = project.shift('night', {
    table: 'name,size,work\nowl,2,\nfox,30,\nbat,1,\n',
    tasks: { work: shellTask(fails) },
    settings: { agent: 'shell', attempts: 1 },
  });
  expect((await shift.start()).code).toBe(3);
  const { page, wrongs } = await openWindow();
  await openGrid(page, await serve(project));

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'size' }).check();
  await page.keyboard.press('Escape');
  const sort = page.getByRole('columnheader', { name: /size/ }).getByRole('button');
  await sort.click();
  await firstRow(page).toContain('bat');
  await sort.click();
  await firstRow(page).toContain('fox');
  // Sort and filter are in the address.
  await page.reload();
  await firstRow(page).toContain('fox');
  await page.getByRole('button', { name: /no nest/ }).click();
  await eventually(() => page.locator('.matching').innerText()).toBe('1 of 3 rows');
  await firstRow(page).toContain('owl');

  await open(page, 'Charts');
  await page.locator('a', { has: page.locator('circle title', { hasText: 'row 2, work' }) }).click();
  await bodyOf(page).toMatch(/fox[\s\S]*no den/);

  await open(page, 'Events');
  const rows = () => page.locator('tr.event .event-type').allInnerTexts();
  await page.getByLabel('Type of event').selectOption('dev:finished');
  await eventually(rows).toEqual(Array(3).fill('dev:finished'));
  await page.reload();
  await eventually(rows).toEqual(Array(3).fill('dev:finished'));
  await page.locator('tr.event', { hasText: 'owl' }).getByRole('link', { name: 'only' }).click();
  await eventually(rows).toEqual(['dev:finished']);
  expect(wrongs).toEqual([]);
});

test('X8 the transcript of a running item shows its end as it grows, until you scroll up, and again from the button on', async () => {
  const project = new Project();
  const part = (name: string) => `i=0; while [ $i -lt 300 ]; do echo "${name} $i"; i=$((i+1)); done`;
  const wait = (file: string) => `until [ -e ${file} ]; do sleep 0.1; done`;
  const shift = project.shift('night', {
    table: 'name,work\nowl,\n',
    tasks: {
      work: shellTask([part('one'), wait('go-1'), part('two'), wait('go-2'), part('three'), wait('go-3')].join('\n')),
    },
    settings: { agent: 'shell' },
  });
  const run = shift.launch();
  const { page } = await openWindow();
  await openGrid(page, await serve(project));
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  const view = page.getByRole('log');
  const fromEnd = () => view.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  const height = () => view.evaluate((it) => it.scrollHeight);
  const text = () => eventually(() => view.innerText());
  await text().toContain('one 299');
  await eventually(fromEnd).toBeLessThan(24);
  project.write('go-1', '');
  await text().toContain('two 299');
  await eventually(fromEnd).toBeLessThan(24);

  await view.evaluate((it) => it.scrollTo({ top: it.scrollHeight / 2 }));
  const away = await fromEnd();
  const before = await height();
  project.write('go-2', '');
  await eventually(height).toBeGreaterThan(before);
  expect(await fromEnd()).toBeGreaterThan(away);
  await page.locator('button.follow').click();
  await text().toContain('three 299');
  await eventually(fromEnd).toBeLessThan(24);
  project.write('go-3', '');
  expect((await run.ended).code).toBe(0);
});
