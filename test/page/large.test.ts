import { appendFileSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { openWindow } from './browser.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

const ROWS = 100_000;

test('X8 100,000 rows: the first screen is small, and the end, a filter and a search are one request each', async () => {
  const project = new Project();
  const rows = Array.from({ length: ROWS }, (_, i) => `item-${i},${i % 97},${i % 50 === 7 ? 'failed' : 'done'}\n`);
  project.shift('night', {
    table: `name,size,work\n${rows.join('')}`,
    tasks: { work: shellTask('true') },
    settings: { agent: 'shell' },
  });
  const { page } = await openWindow();
  let bytes = 0;
  page.on('response', async (response) => {
    bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  await openGrid(page, await serve(project));
  const body = () => page.locator('body').innerText();
  await eventually(body).toMatch(/98,000 done · 2,000 failed/);
  expect(await page.locator('*').count()).toBeLessThanOrEqual(3000);
  expect(bytes).toBeLessThan(500_000);
  await page.keyboard.press('j');
  await page.keyboard.press('End');
  await eventually(body).toContain('item-99999');
  await page.getByRole('button', { name: /failed 2,000/ }).click();
  await eventually(body).toMatch(/2,000 of 100,000 rows/);
  await page.getByRole('searchbox').fill('item-4507');
  await eventually(body).toMatch(/1 of 100,000 rows/);
  // The filters are in the address.
  const again = await page.context().newPage();
  await again.goto(page.url());
  await eventually(() => again.locator('body').innerText()).toMatch(/1 of 100,000 rows/);
});

test('X8 a transcript of 50 MB opens at its end, and its first lines and a search are not far', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,work\na,\n',
    tasks: { work: shellTask('true') },
    settings: { agent: 'shell' },
  });
  expect((await shift.start()).code).toBe(0);
  const { key } = shift.journal().find(({ type }) => type === 'dev:started')!;
  const folder = project.path(shift.folder, '.engine/transcripts/work');
  mkdirSync(folder, { recursive: true });
  const line = (i: number) =>
    `${JSON.stringify({ at: '2026-11-18T01:00:00.000Z', role: 'dev', attempt: 1, kind: 'text', text: `line ${i} ${'x'.repeat(500)}` })}\n`;
  for (let i = 0; i < 90_000; i += 1000) {
    appendFileSync(`${folder}/${key}-dev.jsonl`, Array.from({ length: 1000 }, (_, k) => line(i + k)).join(''));
  }
  appendFileSync(`${folder}/${key}-dev.jsonl`, line(90_000).replace('line', 'needle'));
  const { page } = await openWindow();
  await openGrid(page, await serve(project));
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  const body = () => page.locator('body').innerText();
  await eventually(body).toMatch(/line 89999/);
  expect(await page.locator('*').count()).toBeLessThanOrEqual(6000);
  await page.getByRole('searchbox').last().fill('needle');
  await page.keyboard.press('Enter');
  await eventually(body).toMatch(/needle 90000/);
});
