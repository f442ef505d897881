import { expect, test } from 'vitest';
import { agentTask, Project } from '../harness.ts';
import { openWindow } from './browser.ts';
import { csvCell, PAYLOADS } from './payloads.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

/** What can be a cell of the table. */
const TEXTS = PAYLOADS.filter((text) => !text.includes('\u0000'));

test('S10 S9 text of cells, headers, reasons, Steps, output and events is text on every screen; nothing runs', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: `name,${csvCell(TEXTS[1]!)},work\n${TEXTS.map((text, i) => `n${i},${csvCell(text)},\n`).join('')}`,
    tasks: { work: agentTask(`1. Do {name} ${TEXTS.slice(0, 6).join(' ')}`) },
    settings: { parallel: true, 'current-batch-size': 16, attempts: 1 },
  });
  const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 0.01 };
  const entries = TEXTS.map((text, i) => [
    `dev:n${i}`,
    {
      stderr: `${PAYLOADS.join('\n')}\n`,
      report:
        i % 2 === 0 ? { overall_status: 'FAILED (step 1)', error: text, usage } : { captured_values: { a: text } },
    },
  ]);
  project.behave(Object.fromEntries(entries));
  const ended = await shift.start();
  expect([ended.code, ended.stderr]).toEqual([3, '']);
  const served = await serve(project);
  const { page, wrongs } = await openWindow();
  await openGrid(page, served);
  const body = () => page.locator('body').innerText();
  await eventually(body).toContain(TEXTS[0]);
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await eventually(body).toContain('<img src=x onerror=alert(2)>');
  for (const screen of ['Steps', 'Charts', 'Events'] as const) {
    await page.getByRole('link', { name: screen, exact: true }).first().click();
    await eventually(body).toContain(screen);
    await eventually(() => page.getByRole('main').innerText()).not.toBe('');
  }
  await eventually(body).toMatch(/dev:finished/);
  for (const summary of (await page.locator('summary').all()).slice(0, 40)) await summary.click();
  // Bidirectional controls are shown, not obeyed.
  expect(await body()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await page.locator('iframe, base, svg[onload], img').count()).toBe(0);
  expect(wrongs).toEqual([]);
});

test('S8 no other page can read it, frame it or act through it; without the token it answers nothing', async () => {
  const project = new Project();
  project.shift('night', { table: 'name,work\na,\n', tasks: { work: agentTask() } });
  const { url } = await serve(project);
  const { origin } = new URL(url);
  const { page, context } = await openWindow();
  await page.goto(url);
  await eventually(() => page.locator('body').innerText()).toContain('night');
  const cookies = await context.cookies(origin);
  expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([[true, 'Strict']]);

  // Another origin in the same browser, which has the cookie.
  const other = await context.newPage();
  await context.route('http://other.example/**', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<iframe src="${origin}/"></iframe>` }),
  );
  await other.goto('http://other.example/');
  const tried = await other.evaluate(async (target) => {
    const outcome = (attempt: Promise<Response>) =>
      attempt.then(
        ({ type, status }) => [type, status],
        () => ['refused'],
      );
    const body = JSON.stringify({ shift: 'night', action: { verb: 'stop' } });
    return [
      await outcome(fetch(`${target}/api/project`)),
      await outcome(fetch(`${target}/api/project`, { credentials: 'include' })),
      await outcome(fetch(`${target}/api/act`, { method: 'POST', body, mode: 'no-cors', credentials: 'include' })),
      await outcome(
        fetch(`${target}/api/act`, {
          method: 'POST',
          body,
          credentials: 'include',
          headers: { 'Content-Type': 'application/json', 'X-Nightshift': 'page' },
        }),
      ),
    ];
  }, origin);
  expect(tried).toEqual([['refused'], ['refused'], ['refused'], ['refused']]);
  expect(other.frames().at(-1)!.url()).not.toBe(`${origin}/`);

  const stranger = await openWindow();
  await stranger.page.goto(`${origin}/#token=${'x'.repeat(43)}`);
  await eventually(() => stranger.page.locator('body').innerText()).toMatch(/nightshift view/);
  expect(await stranger.page.locator('body').innerText()).not.toContain('night\n');
});
