import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';
import { expectAccessible, openWindow } from './browser.ts';
import { csvCell, PAYLOADS } from './payloads.ts';

const HARMLESS = PAYLOADS.filter((text) => !text.includes('\u0000'));

/** A night in which every text that others write is a payload: cells, reasons, captured values, output. */
async function hostileNight(): Promise<{ project: Project; shift: ShiftHandle; address: string }> {
  const project = new Project();
  const shift = project.shift('night', {
    table: `name,note,work\n${HARMLESS.map((text, i) => `n${i},${csvCell(text)},\n`).join('')}`,
    tasks: { work: agentTask() },
    settings: { parallel: true, 'current-batch-size': 16, attempts: 1, 'max-cost': 5 },
  });
  const usage = { input_tokens: 100, output_tokens: 20, cost_usd: 0.25 };
  const failing = HARMLESS.map((text, i) => [
    `dev:n${i}`,
    i % 2 === 0
      ? { report: { overall_status: 'FAILED (step 1)', error: text, usage } }
      : { report: { captured_values: { found: text }, usage } },
  ]);
  project.behave(Object.fromEntries(failing));
  expect((await shift.start()).code).toBe(3);
  return { project, shift, address: pathToFileURL(project.path(shift.folder, 'report.html')).href };
}

test('X8 S10 the report opens from disk and answers at once; nothing in it runs but its filter; axe finds nothing serious', async () => {
  const { address } = await hostileNight();
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, wrongs } = await openWindow({ colorScheme, offline: true });
    await page.goto(address);
    const first = await page.locator('main').innerText();
    expect(first).toMatch(/7 of 15 items are done, 8 failed\. The last run ended after .* \(exit code 3\)\./);
    expect(first).toMatch(/\$3\.75\s+spent of \$5\.00/);
    await page.getByLabel('Search').fill('onmouseover');
    await expect.poll(() => page.locator('#shown').innerText()).toBe('1 of 15 rows');
    expect(await page.locator('#items tbody:visible').count()).toBe(1);
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Status').selectOption('failed');
    await expect.poll(() => page.locator('#shown').innerText()).toBe('8 of 15 rows');
    // Every payload is there as text.
    await page.getByLabel('Status').selectOption('');
    const cells = await page.locator('#items tbody tr:first-child td:nth-child(3)').allInnerTexts();
    expect(cells.slice(0, 5)).toEqual(HARMLESS.slice(0, 5));
    await expectAccessible(page);
    expect(wrongs).toEqual([]);
  }
});

test('X8 the report is whole with scripts turned off, on a phone, and on paper', async () => {
  const { address } = await hostileNight();
  const { page, context } = await openWindow({ javaScriptEnabled: false, viewport: { width: 375, height: 700 } });
  await page.goto(address);
  expect(await page.getByText('8 failed').first().isVisible()).toBe(true);
  expect(await page.locator('#items tbody').count()).toBe(HARMLESS.length);
  expect(await page.locator('#filter').isVisible()).toBe(false);
  // The table scrolls in its own box, the page does not.
  const box = await page.locator('body').boundingBox();
  expect(box!.width).toBeLessThanOrEqual(375);
  const printed = await page.pdf();
  expect(printed.subarray(0, 5).toString()).toBe('%PDF-');
  await context.close();
});
