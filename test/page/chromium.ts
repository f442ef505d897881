import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Chromium of the system: `CHROMIUM` in the environment, or where Debian and macOS have it. */
const PLACES = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
/** Nothing but the tests' own pages is asked for. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchChromium(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place !== '' && existsSync(place));
  if (executablePath === undefined) throw new Error('install Chromium (apt-get install chromium), or set CHROMIUM');
  return await chromium.launch({ executablePath, args: QUIET });
}
