import { createInterface } from 'node:readline/promises';
import { findShift, type ShiftPaths, shiftNames } from '../app/find-shift.ts';
import type { Io } from './io.ts';

/** The named shift, or the only one. If there are several, you choose one on a terminal. */
export async function chooseShift(io: Io, name: string | undefined): Promise<ShiftPaths> {
  if (name !== undefined || !io.isInteractive) return findShift(io, name);
  const shifts = shiftNames(io);
  return findShift(io, shifts.length > 1 ? await ask(shifts) : undefined);
}

async function ask(shifts: readonly string[]): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(`Which shift?\n${shifts.map((shift, i) => `  ${i + 1}. ${shift}\n`).join('')}`);
    for (;;) {
      const answer = (await terminal.question('Number or name: ')).trim();
      const chosen = shifts.find((shift, i) => answer === shift || answer === String(i + 1));
      if (chosen !== undefined) return chosen;
    }
  } finally {
    terminal.close();
  }
}
