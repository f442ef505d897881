import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { Project, type ShiftHandle, shellTask, until } from '../harness.ts';
import { learnedShift } from '../kit/learned-shift.ts';
import { remains } from '../kit/remains.ts';
import { RepositoryProject } from '../kit/repository-project.ts';
import { expectAccessible, openWindow } from './browser.ts';
import { eventually, openGrid, serve } from './viewed-project.ts';

const bodyOf = (page: Page) => eventually(() => page.locator('body').innerText());

/** Presses a button, reads the command line, confirms with the button of the same name, and waits for the end of it. */
async function press(page: Page, title: string, command: string): Promise<void> {
  await page.getByRole('button', { name: title, exact: true }).first().click();
  await confirm(page, title, command);
}

async function confirm(page: Page, title: string, command: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await eventually(() => dialog.innerText()).toContain(`nightshift ${command}`);
  await dialog.getByRole('button', { name: new RegExp(`^${title}`) }).click();
  await eventually(() => dialog.count()).toBe(0);
}

test('X8 W10 S10 results are approved where their diff is, and delivered as by the command', async () => {
  const made = async (): Promise<ShiftHandle & { readonly project: RepositoryProject }> => {
    const project = new RepositoryProject();
    const step = 'printf "%s\\n" "<img src=x onerror=alert(1)>" > "<svg onload=alert(2)> {name}.txt"';
    const shift = project.rows(['one', 'two'], step, { deliver: 'pr', 'deliver-when': 'approved' });
    expect((await project.command(['start', 'night', '--plain'])).code).toBe(0);
    return Object.assign(shift, { project });
  };
  const [acted, typed] = [await made(), await made()];
  const { page, wrongs } = await openWindow();
  await page.goto((await serve(acted.project)).url);
  // The first screen says what needs a person, and leads there.
  await page.getByRole('link', { name: '2 results to approve' }).click();
  await bodyOf(page).toMatch(/held\s+2/);
  await page.getByRole('link', { name: 'two', exact: true }).click();
  await page.getByRole('button', { name: 'Read the diff and approve' }).click();
  const dialog = page.getByRole('dialog');
  await eventually(() => dialog.innerText()).toMatch(/<svg onload=alert\(2\)> two\.txt[\s\S]*\+<img src=x/);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await confirm(page, 'Approve', 'deliver night --rows 2 --yes');
  await bodyOf(page).toMatch(/delivered as/);
  expect(acted.project.pullRequests.map(({ title }) => title)).toEqual(['night: two']);
  expect(acted.project.git('remote.git', 'log', '-1', '--format=%s', 'nightshift/night/two')).not.toBe('');
  await typed.project.command(['deliver', 'night', '--rows', '2', '--yes']);
  expect(remains(acted)).toEqual(remains(typed));
  await page.getByRole('link', { name: 'Grid', exact: true }).click();
  await bodyOf(page).toMatch(/1 result to approve/);
  expect(wrongs).toEqual([]);
});

test('X8 L12 a lesson is accepted and taken back, and a version of the Steps restored, as by the commands', async () => {
  const [acted, typed] = [await learnedShift(), await learnedShift()];
  const { page } = await openWindow();
  await openGrid(page, await serve(acted.project));
  await page.getByRole('link', { name: 'Steps', exact: true }).click();
  const lesson = page.locator('li.lesson', { hasText: 'Knock twice' });
  await lesson.getByRole('button', { name: 'Accept' }).click();
  await confirm(page, 'Accept', 'lessons night accept L1');
  await eventually(() => lesson.innerText()).toContain('in the Steps');
  expect(acted.task('work')).toContain('2. Knock twice');
  await lesson.getByRole('button', { name: 'Undo' }).click();
  await confirm(page, 'Undo', 'lessons night undo L1');
  await eventually(() => lesson.innerText()).toContain('waits for more rows');
  const other = page.locator('li.lesson', { hasText: 'Wear thick gloves' });
  await other.getByRole('button', { name: 'Accept' }).click();
  await confirm(page, 'Accept', 'lessons night accept L2');
  await eventually(() => other.innerText()).toContain('in the Steps');
  await page.locator('button.version').first().click();
  await press(page, 'Restore version 1', 'steps night work --restore 1');
  await eventually(() => page.locator('pre.document').innerText()).not.toContain('gloves');
  await expectAccessible(page);
  for (const args of ['lessons night accept L1', 'lessons night undo L1', 'lessons night accept L2']) {
    expect(await typed.project.run(args.split(' '))).toMatchObject({ code: 0 });
  }
  expect(await typed.project.run(['steps', 'night', 'work', '--restore', '1'])).toMatchObject({ code: 0 });
  expect(acted.task('work')).not.toContain('gloves');
  expect(remains(acted)).toEqual(remains(typed));
});

test('X8 a cell is edited, and the run paused, resumed and stopped, as by the commands, on a phone', async () => {
  const made = () =>
    new Project().shift('night', {
      settings: { agent: 'shell', attempts: 1 },
      table: 'name,note,work\nant,one,todo\nbee,two,todo\n',
      tasks: { work: shellTask('until [ -e .nightshift/go ]; do sleep 0.1; done') },
    });
  /** Each as soon as the run has heard of the one before. */
  const steer = async (shift: ShiftHandle, act: (verb: 'pause' | 'resume' | 'stop') => Promise<unknown>) => {
    const run = shift.launch();
    await run.seen('dev:started');
    for (const [verb, type] of [
      ['pause', 'run:paused'],
      ['resume', 'run:resumed'],
      ['stop', 'run:draining'],
    ] as const) {
      const acting = act(verb);
      await until(() => shift.journal().some((event) => event.type === type), type);
      if (verb === 'stop') shift.project.write('.nightshift/go', '');
      await acting;
    }
    return (await run.ended).code;
  };
  const [acted, typed] = [made(), made()];
  const { page } = await openWindow({ viewport: { width: 375, height: 800 } });
  const expectFits = async () => {
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
    expect(await page.evaluate("document.querySelector('main').scrollWidth")).toBeLessThanOrEqual(375);
  };
  const served = await serve(acted.project);
  await openGrid(page, served);
  await page.getByRole('link', { name: 'bee', exact: true }).click();
  await page.getByRole('button', { name: 'edit', exact: false }).last().click();
  await page.getByLabel('Value').fill('it\'s "2"');
  await page.getByRole('button', { name: 'Continue' }).click();
  await confirm(page, 'Edit cell', `table --row 2 night edit note 'it'\\''s "2"'`);
  expect(acted.column('note')).toEqual(['one', 'it\'s "2"']);
  await typed.project.run(['table', '--row', '2', 'night', 'edit', 'note', 'it\'s "2"']);
  await page.getByRole('link', { name: 'Grid', exact: true }).click();

  const code = await steer(acted, async (verb) => {
    const title = { pause: 'Pause', resume: 'Resume', stop: 'Stop' }[verb];
    await press(page, title, `${verb} night`);
    await bodyOf(page).toMatch({ pause: /Paused since/, resume: /Running since/, stop: /Stopping|Ended/ }[verb]);
    if (verb !== 'pause') return;
    await page.goto(served.url);
    await bodyOf(page).toMatch(/paused since/);
    await expectFits();
    await page.getByRole('link', { name: 'night', exact: true }).click();
  });
  expect(code).toBe(await steer(typed, (verb) => typed.project.run([verb, 'night'])));
  await bodyOf(page).toMatch(/1 done · 0 failed · 1 left/);
  expect(remains(acted)).toEqual(remains(typed));
});
