import { expect } from 'vitest';
import type { Ended, ShiftHandle } from './harness.ts';

export interface Opened {
  notes?: string[];
  left: boolean;
  task: string;
  size: number;
  recovered: number;
  items: { index: number; role: string; prompt: string; qaPrompt?: string }[];
}

export const open = async (shift: ShiftHandle, ...flags: string[]): Promise<Opened> =>
  JSON.parse((await shift.project.run(['batch', 'open', 'site', '--json', ...flags])).stdout);

export const close = (shift: ShiftHandle, ...flags: string[]): Promise<Ended> =>
  shift.project.run(['batch', 'close', 'site', ...flags]);

/** The command that a prompt tells its agent to write this status with, and only that. */
export function commandIn(shift: ShiftHandle, prompt: string, status: string): string[] {
  const line = shift.project
    .read(prompt)
    .split('\n')
    .find((each) => each.includes(` ${status} --token `));
  return line!
    .trim()
    .replace(/ --(reason|captured).*/, '')
    .split(' ')
    .slice(1);
}

export const write = (shift: ShiftHandle, prompt: string, status: string, ...more: string[]): Promise<Ended> =>
  shift.project.run([...commandIn(shift, prompt, status), ...more]);

/** Dev and qa of one item both succeed. */
export async function pass(shift: ShiftHandle, item: Opened['items'][number], ...more: string[]): Promise<void> {
  expect(await write(shift, item.prompt, 'qa', ...more)).toMatchObject({ code: 0, stderr: '' });
  expect(await write(shift, item.qaPrompt!, 'done')).toMatchObject({ code: 0, stderr: '' });
}

/** Its dev gives up: each time is an attempt, and the third is the last. */
export async function fail(shift: ShiftHandle, item: Opened['items'][number], reason: string): Promise<void> {
  for (const left of [2, 1]) {
    const ended = await write(shift, item.prompt, 'failed', '--reason', reason);
    expect([ended.code, ended.stderr]).toEqual([3, `not written: ${reason}; attempts left: ${left}\n`]);
  }
  expect(await write(shift, item.prompt, 'failed', '--reason', reason)).toMatchObject({ code: 0, stderr: '' });
}
