import { createInterface } from 'node:readline/promises';
import { NightshiftError } from '../core/model/errors.ts';
import { findRoot, listShifts, openShift, type ShiftPaths } from '../store/folder/layout.ts';
import type { Io } from './io.ts';

export function requireRoot(io: Io): string {
  const root = findRoot(io.cwd);
  if (root !== undefined) return root;
  throw new NightshiftError(
    'not-found',
    `there is no .nightshift folder in ${io.cwd} or above it`,
    '`nightshift create NAME` makes one with a first shift, `nightshift demo` shows one at work',
  );
}

/** The shift that was named; else the only one there is, else a choice on a terminal. */
export async function chooseShift(io: Io, name: string | undefined): Promise<ShiftPaths> {
  const root = requireRoot(io);
  if (name !== undefined) return openShift(root, name);
  const shifts = listShifts(root);
  if (shifts.length === 1) return openShift(root, shifts[0]!);
  if (shifts.length === 0) {
    throw new NightshiftError('not-found', 'there is no shift yet', '`nightshift create NAME` makes one');
  }
  if (!io.isInteractive) {
    throw new NightshiftError('usage', 'there are several shifts', `name one of: ${shifts.join(', ')}`);
  }
  return openShift(root, await ask(shifts));
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
