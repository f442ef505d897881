import { onTestFinished } from 'vitest';
import { openPage } from '../../src/app/page/open-page.ts';
import type { Page } from '../../src/app/page/page.ts';
import type { RowQuery } from '../../src/core/page/row-query.ts';
import { type Project, sleep } from '../harness.ts';

export const ALL: RowQuery = { status: [], isDescending: false, columns: [] };

/** The page of a project, closed at the end of the test. */
export function pageOf(project: Project, open: typeof openPage = openPage): Page {
  const page = open({ cwd: project.root, env: process.env, now: Date.now }, project.root);
  onTestFinished(() => page[Symbol.asyncDispose]());
  return page;
}

/** The numbers of the rows that match, in their order. */
export async function rowsOf(page: Page, shift: string, query: Partial<RowQuery>): Promise<number[]> {
  const { rows, matching } = await page.rows(shift, { ...ALL, ...query }, { from: 0, count: 1000 });
  if (rows.length !== matching) throw new Error(`${matching} match, but ${rows.length} were answered`);
  return rows.map(({ row }) => row);
}

/** Asks again until the answer is one: what was read lately is not read again at once. */
export async function eventually<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    await sleep(50);
  }
}
