import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Project, type ShiftHandle, shellTask, until } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

/** The page of a project, served by the program that users run. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  /** Ends the server at once, as a crash does. */
  kill(): Promise<void>;
}

/** A server that is started again has the same address, because the project keeps it. */
export async function serve(project: Project, args: readonly string[] = []): Promise<Served> {
  const env = { XDG_STATE_HOME: project.path('state'), ...(project instanceof RepositoryProject ? project.env : {}) };
  const running = project.spawn(['view', '--json', ...args], { env });
  await until(
    () => running.stdout.includes('\n'),
    () => `the address of the page (${running.child.exitCode ?? running.child.signalCode})\n${running.stderr}`,
  );
  const { url, pid } = running.events[0];
  return {
    url,
    pid,
    kill: async () => {
      running.child.kill('SIGKILL');
      await running.ended;
    },
  };
}

/** A shift whose rows wait until the test lets them go: `project.write('go-NAME', '')`. Rows whose name is `bad` fail. */
export function waitingShift(project: Project, names: readonly string[]): ShiftHandle {
  const wait = 'until [ -e go-{name} ]; do sleep 0.1; done; test {name} != bad';
  return project.shift('night', {
    table: `name,size,work\n${names.map((name, i) => `${name},${i},\n`).join('')}`,
    tasks: { work: shellTask(wait) },
    settings: { agent: 'shell', parallel: true, dispatch: 'stream', 'current-batch-size': names.length, attempts: 1 },
  });
}

/** Opens the grid of a shift. */
export async function openGrid(page: Page, { url }: Served, shift = 'night'): Promise<void> {
  await page.goto(url);
  await page.getByRole('link', { name: shift, exact: true }).click();
  await expect.poll(() => page.getByRole('row').count(), { timeout: 60_000 }).toBeGreaterThan(1);
}

/** Polls patiently: the page asks again at most once a second, and the machine may be busy. */
export function eventually<T>(read: () => Promise<T>) {
  return expect.poll(read, { timeout: 60_000, interval: 200 });
}
