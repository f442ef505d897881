import type { Shift } from '../core/model/shift.ts';
import { compileShift, type Overrides, type ShiftDocuments } from '../formats/compile.ts';

export type Compile = (documents: ShiftDocuments, header: readonly string[]) => Shift;

/** Compiles only what has changed: before its first claim a run reads its files three times, and compiles them once. */
export function compileOnce(overrides: Overrides): Compile {
  let last: { readonly key: string; readonly shift: Shift } | undefined;
  return (documents, header) => {
    const key = keyOf(documents, header);
    if (last?.key !== key) last = { key, shift: compileShift(documents, header, overrides) };
    return last.shift;
  };
}

function keyOf({ manager, tasks, env, lessons }: ShiftDocuments, header: readonly string[]): string {
  const ofTasks = tasks.map(({ name, document }) => [name, document.text]);
  return JSON.stringify([manager.text, env, lessons?.text, ofTasks, header]);
}
