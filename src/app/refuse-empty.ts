import { NightshiftError } from '../core/model/errors.ts';
import type { Shift } from '../core/model/shift.ts';

/** A shift without tasks or items is bad input; each has its own message (rule M7). */
export function refuseEmpty(shift: Shift, items: number): void {
  if (shift.tasks.length === 0) {
    const hint = `\`nightshift add-task ${shift.name} TASK\` adds one`;
    throw new NightshiftError('nothing-to-do', `${shift.name} has no tasks`, hint, shift.taskOrder);
  }
  if (items === 0) {
    const hint = `\`nightshift table ${shift.name} add NAME=VALUE\` or \`import FILE\` adds some`;
    throw new NightshiftError('nothing-to-do', `${shift.name} has no items`, hint, { file: shift.table, line: 1 });
  }
}
