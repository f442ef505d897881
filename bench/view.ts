import type { Section } from './figure.ts';
import { gridTimes } from './page/grid-times.ts';
import { watchedRuns } from './page/watched-run.ts';

/** What the page costs a run, and what a large table costs the page. Needs Chromium. */
export async function view(): Promise<Section> {
  return { title: 'The page', figures: [...(await gridTimes()), ...(await watchedRuns())] };
}
