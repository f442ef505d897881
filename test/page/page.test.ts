import { describe, expect, test } from 'vitest';
import { Project, until } from '../harness.ts';
import { expectAccessible, openWindow } from './browser.ts';
import { eventually, openGrid, serve, waitingShift } from './viewed-project.ts';

const NAMES = ['owl', 'fox', 'bad'];

/** A shift that ran: two rows are done, one failed. */
async function ranProject(): Promise<Project> {
  const project = new Project();
  const shift = waitingShift(project, NAMES);
  for (const name of NAMES) project.write(`go-${name}`, '');
  expect((await shift.start()).code).toBe(3);
  return project;
}

describe('X8 the page', () => {
  test.each([
    ['light', 1280],
    ['dark', 1280],
    // A phone, and a window at 200 %.
    ['light', 375],
    ['dark', 640],
  ] as const)(
    'X8 every screen is there, %s, %i pixels wide: axe finds nothing serious, nothing is cut off',
    async (colorScheme, width) => {
      const project = await ranProject();
      const served = await serve(project);
      const { page, wrongs } = await openWindow({ colorScheme, viewport: { width, height: 800 } });
      const expectFits = async () => {
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await expectAccessible(page);
      };
      await page.goto(served.url);
      await eventually(() => page.locator('body').innerText()).toMatch(/night[\s\S]*2 done, 1 failed/);
      // The token is gone from the address bar.
      expect(page.url()).not.toContain('token');
      await expectFits();
      await openGrid(page, served);
      await eventually(() => page.locator('body').innerText()).toMatch(/2 done · 1 failed · 0 left of 3/);
      await expectFits();
      await page.getByRole('link', { name: /bad/ }).first().click();
      await eventually(() => page.locator('body').innerText()).toMatch(/Attempt 1[\s\S]*step 1/);
      await expectFits();
      for (const [name, shows] of [
        ['Steps', /until \[ -e go-/],
        ['Charts', /Burn-down/i],
        ['Events', /run:finished/],
      ] as const) {
        await page.getByRole('link', { name, exact: true }).first().click();
        await eventually(() => page.locator('body').innerText()).toMatch(shows);
        await expectFits();
      }
      expect(wrongs).toEqual([]);
    },
  );

  test('X8 a run is shown as it happens, in seven windows at once, with one stream', async () => {
    const project = new Project();
    const shift = waitingShift(project, NAMES);
    const served = await serve(project);
    const first = await openWindow();
    await openGrid(first.page, served);
    const pages = [first.page];
    for (let i = 1; i < 7; i++) {
      const page = await first.context.newPage();
      await page.goto(first.page.url());
      pages.push(page);
    }
    const run = shift.launch();
    for (const page of pages) {
      await eventually(() => page.locator('body').innerText()).toMatch(/3 at work/);
    }
    project.write('go-owl', '');
    project.write('go-bad', '');
    for (const page of pages) {
      await eventually(() => page.locator('body').innerText()).toMatch(/1 done · 1 failed · 1 left/);
    }
    // A browser has six connections for a host: with a stream for each window, nothing would be answered any more.
    await pages.at(-1)!.getByRole('link', { name: 'Events', exact: true }).click();
    await eventually(() => pages.at(-1)!.locator('body').innerText()).toMatch(/batch:claimed/);
    project.write('go-fox', '');
    expect((await run.ended).code).toBe(3);
    for (const page of pages.slice(0, -1)) {
      await eventually(() => page.locator('body').innerText()).toMatch(/2 done · 1 failed · 0 left/);
    }
    expect(first.wrongs).toEqual([]);
  });

  test('X8 after the server is killed and started again, the page goes on: no event is missing, none is there twice', async () => {
    const project = new Project();
    const shift = waitingShift(project, NAMES);
    const served = await serve(project);
    const { page } = await openWindow();
    await openGrid(page, served);
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    const run = shift.launch();
    await eventually(() => page.locator('tr.event').count()).toBeGreaterThan(4);
    await served.kill();
    await eventually(() => page.locator('body').innerText()).toMatch(/Connection lost|trying again|server has ended/i);
    project.write('go-owl', '');
    await until(() => shift.column('work')[0] === 'done', 'the first row');
    const again = await serve(project);
    expect(new URL(again.url).port).toBe(new URL(served.url).port);
    for (const name of NAMES) project.write(`go-${name}`, '');
    await run.ended;
    const journal = shift.journal();
    const shown = () => page.locator('tr.event .event-type').allInnerTexts();
    await eventually(async () => (await shown()).length).toBe(journal.length);
    expect((await shown()).reverse()).toEqual(journal.map(({ type }) => type));
  });

  test('X8 with the keyboard alone: choose a row, read the command, reset it; the result is that of the command', async () => {
    const [here, there] = [await ranProject(), await ranProject()];
    const { page } = await openWindow();
    await openGrid(page, await serve(here));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await eventually(() => page.locator('body').innerText()).toMatch(/1 row\n/);
    await page.getByRole('button', { name: 'Reset', exact: true }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await eventually(() => dialog.innerText()).toMatch(/nightshift table night reset --row 3/);
    await dialog.getByRole('button', { name: 'Reset' }).focus();
    await page.keyboard.press('Enter');
    await until(() => here.read('.nightshift/night/table.csv').includes('bad,2,todo'), 'the reset');
    await there.run(['table', 'night', 'reset', '--row', '3']);
    const [ours, theirs] = [here, there].map((project) => ({
      table: project.read('.nightshift/night/table.csv'),
      edit: JSON.parse(project.read('.nightshift/night/.engine/journal.jsonl').trimEnd().split('\n').at(-1)!),
    }));
    expect(ours!.table).toBe(theirs!.table);
    expect({ ...ours!.edit, at: '', by: '' }).toEqual({ ...theirs!.edit, at: '', by: '' });
    // Help, and leaving it.
    await page.keyboard.press('?');
    await eventually(() => page.getByRole('dialog').innerText()).toMatch(/retry/i);
    await page.keyboard.press('Escape');
    await eventually(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement?.id')).toBe('search');
  });

  test('X8 retry runs again what failed, and --read-only takes every action away', async () => {
    const project = await ranProject();
    const { page } = await openWindow();
    const served = await serve(project);
    await openGrid(page, served);
    project.write('.nightshift/night/work.md', project.read('.nightshift/night/work.md').replace('!= bad', '!= worse'));
    await page.getByRole('button', { name: 'Retry failed' }).click();
    const dialog = page.getByRole('dialog');
    await eventually(() => dialog.innerText()).toMatch(/nightshift retry night/);
    await dialog.getByRole('button', { name: /Retry/ }).click();
    await eventually(() => page.locator('body').innerText()).toMatch(/3 done · 0 failed · 0 left/);
    await served.kill();
    await openGrid(page, await serve(project, ['--read-only']));
    await eventually(() => page.locator('body').innerText()).toMatch(/3 done/);
    expect(await page.getByRole('button', { name: /Retry|Reset|Start|Pause|Stop/ }).count()).toBe(0);
    expect(await page.getByRole('checkbox', { name: /Select/ }).count()).toBe(0);
  });
});
