import axe from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { launchChromium } from './chromium.ts';

let shared: Promise<Browser> | undefined;

/** One browser for all tests of a worker; it ends with the worker. */
function browser(): Promise<Browser> {
  shared ??= launchChromium();
  return shared;
}

export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What ran that should not, and what failed: errors of scripts, refusals of the policy, dialogs. */
  readonly wrongs: string[];
}

/** A window of its own, closed after the test, which fails if a script ran that should not. */
export async function openWindow(options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const wrongs: string[] = [];
  watch(page, wrongs);
  return { context, page, wrongs };
}

function watch(page: Page, wrongs: string[]): void {
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) wrongs.push(message.text());
  });
}

/** Axe finds nothing serious on the page as it is now. Runs apart from the page's policy. */
export async function expectAccessible(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setBypassCSP', { enabled: true });
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  });
  expect(found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
}

interface Axe {
  run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>;
}
