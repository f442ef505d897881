import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { environmentIn, workspaceShift } from '../crash/workspace-shift.ts';
import { Project } from '../harness.ts';

test('W7 a workspace whose row is gone from the table is kept and named at the next start', async () => {
  const shift = workspaceShift(new Project(), 'branch');
  const env = environmentIn(shift.project);
  const killed = await shift.spawn([], { env: { ...env, NIGHTSHIFT_CRASH_AT: 'workspace:kept#1' } }).ended;
  expect(killed.signal).toBe('SIGKILL');
  // The first batch has three rows. One of them is all that is left to do.
  const [header, first, second] = shift.tableText.split('\n');
  const opened = killed.events.find((event) => event.type === 'workspace:opened' && event.index === 0);
  shift.tableText = `${header}\n${second}\n`;
  expect(first).toMatch(/^page 1,/);
  const { code, events } = await shift.spawn([], { env }).ended;
  expect(code).toBe(0);
  const warnings = events.filter(({ type }) => type === 'run:warning').map(({ message }) => message);
  const sentence = 'the table no longer has the rows of these workspaces, which are kept: ';
  const named = warnings.find((message) => message.startsWith(sentence));
  const folders = named?.slice(sentence.length).split(', ');
  expect(folders).toContain(opened.folder);
  const stillThere = events.find((event) => event.type === 'workspace:opened');
  expect(folders).not.toContain(stillThere.folder);
  expect(existsSync(opened.folder)).toBe(true);
});
