import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Project, type ShiftHandle, shellTask } from '../harness.ts';
import { writeFinishedRuns } from '../kit/finished-run.ts';
import { openWindow } from './browser.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

const ROWS = 100_000;

interface Answered {
  readonly path: string;
  readonly bytes: number;
}

/** What the server has sent to a window since. Streams never end, and are not in it. */
function watchAnswers(page: Page): Answered[] {
  const answers: Answered[] = [];
  page.on('requestfinished', async (request) => {
    // The window may be closed by now.
    const sizes = await request.sizes().catch(() => undefined);
    if (sizes) answers.push({ path: new URL(request.url()).pathname, bytes: sizes.responseBodySize });
  });
  return answers;
}

function bytesOf(answers: readonly Answered[]): number {
  return answers.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** A shift in which all rows were done again and again. */
async function oftenDone(project: Project, rows: number, runs: number): Promise<ShiftHandle> {
  const shift = project.shift('night', {
    table: `name,work\n${Array.from({ length: rows }, (_, i) => `item-${i + 1},${i === 1 ? 'failed' : 'done'}\n`).join('')}`,
    tasks: { work: shellTask('true') },
    settings: { agent: 'shell' },
  });
  await writeFinishedRuns(project.root, 'night', runs);
  return shift;
}

/** The file of what the dev said. */
function transcriptOf({ folder }: ShiftHandle, key: string): string {
  return join(folder, '.engine', 'transcripts', 'work', `${key}-dev.jsonl`);
}

/** Of a transcript. */
function lineOf(entry: object): string {
  return `${JSON.stringify({ at: '2026-11-18T01:00:00.000Z', role: 'dev', attempt: 1, ...entry })}\n`;
}

/** The most memory that a process ever had. */
function peakMemory(pid: number): number {
  return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

test('X8 100,000 rows: the first screen is small, and the end, a filter and a search are one request each', async () => {
  const project = new Project();
  const rows = Array.from({ length: ROWS }, (_, i) => `item-${i},${i % 97},${i % 50 === 7 ? 'failed' : 'done'}\n`);
  project.shift('night', {
    table: `name,size,work\n${rows.join('')}`,
    tasks: { work: shellTask('true') },
    settings: { agent: 'shell' },
  });
  const { page } = await openWindow();
  const answers = watchAnswers(page);
  await openGrid(page, await serve(project));
  const body = () => page.locator('body').innerText();
  await eventually(body).toMatch(/98,000 done · 2,000 failed/);
  expect(await page.locator('*').count()).toBeLessThanOrEqual(3000);
  expect(bytesOf(answers)).toBeLessThan(500_000);
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
  const transcript = transcriptOf(shift, key);
  project.write(transcript, '');
  const line = (i: number) => lineOf({ kind: 'text', text: `line ${i} ${'x'.repeat(500)}` });
  for (let i = 0; i < 90_000; i += 1000) {
    appendFileSync(project.path(transcript), Array.from({ length: 1000 }, (_, k) => line(i + k)).join(''));
  }
  appendFileSync(project.path(transcript), line(90_000).replace('line', 'needle'));
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

test('X8 an item with 6,700 events: its screen, what was said and its events come in small parts, the latest first', async () => {
  const project = new Project();
  const shift = await oftenDone(project, 1, 960);
  const events = shift.journal().filter(({ item }) => item !== undefined);
  expect(events.length).toBeGreaterThan(6700);
  const { key } = events.find(({ type }) => type === 'dev:started')!;
  const lines = Array.from({ length: 6700 }, (_, i) => {
    const call = { kind: 'tool-call', tool: 'bash', text: `{"command":"part ${i}"}`, mayWrite: true };
    const result = { kind: 'tool-result', tool: 'bash', text: `line ${i}\n${'text '.repeat(50)}`, isError: false };
    return lineOf(i % 2 === 0 ? call : result);
  });
  project.write(transcriptOf(shift, key), lines.join(''));
  const { page, wrongs } = await openWindow();
  await openGrid(page, await serve(project));
  const answers = watchAnswers(page);
  const body = () => page.locator('body').innerText();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await eventually(body).toMatch(/part 6698/);
  expect(await page.locator('*').count()).toBeLessThanOrEqual(6000);
  expect(bytesOf(answers)).toBeLessThan(600_000);
  await page.goto(`${new URL(page.url()).origin}/?shift=night&screen=events&item=${events[0].item}`);
  await eventually(() => page.locator('tr.event').count()).toBe(200);
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeLessThan(300_000);
  expect(answers.length).toBeLessThan(25);
  expect(wrongs).toEqual([]);
});

test('X8 a journal of 200 MB: every screen opens, no answer is large, and the server does not hold it in memory', async () => {
  const project = new Project();
  const shift = await oftenDone(project, 1000, 100);
  expect(statSync(project.path(shift.folder, '.engine/journal.jsonl')).size).toBeGreaterThan(200e6);
  const served = await serve(project);
  const { page, wrongs } = await openWindow();
  const answers = watchAnswers(page);
  const body = () => page.locator('body').innerText();
  await page.goto(served.url.replace('#', '?shift=night#'));
  await eventually(() => page.getByRole('row').count()).toBeGreaterThan(20);
  expect(await body()).toMatch(/999 done · 1 failed/);
  // The rows are there before the journal was read; then the reasons come by themselves.
  await eventually(body).toMatch(/exit code 2, and it printed nothing/);
  await page.getByRole('link', { name: 'item-1', exact: true }).click();
  await eventually(body).toMatch(/Attempt 1/);
  for (const [name, shows] of [
    ['Events', /run:finished[\s\S]*item:recorded/],
    ['Charts', /Burn-down/i],
  ] as const) {
    await page.getByRole('link', { name, exact: true }).first().click();
    await eventually(body).toMatch(shows);
  }
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeLessThan(300_000);
  expect(peakMemory(served.pid)).toBeLessThan(256e6);
  expect(wrongs).toEqual([]);
});
