import { statSync, utimesSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Sequence } from '../../src/core/model/model.ts';
import type { Status } from '../../src/core/model/status.ts';
import { type Project, type ShiftHandle, task } from '../harness.ts';

export const TASKS = ['make', 'polish'] as const;
export const FIRST_SIZE = 2;
export const MAX_SIZE = 8;
const ROWS = 20;

/** The two ways of dispatch; a shift may be resumed in the other one. */
export const DISPATCHES = ['batch', 'stream'] as const;
export type Dispatch = (typeof DISPATCHES)[number];
/** Its checks are the whole verdict: in a stream `qa` and `done` share a write. About the other task a qa is asked. */
export const CHECKED = TASKS[1];

/** One of each for every ten rows; see agent.sh for what they do. */
const KINDS = ['ok', 'ok', 'retry', 'ok', 'stray', 'ok', 'bad', 'ok', 'ok', 'unfit'] as const;

/** Two tasks in parallel with outputs, checks, a qa, retries, failures and lessons: all that a crash could hurt. */
export function crashShift(project: Project, sequence: Sequence): ShiftHandle {
  const kinds = Array.from({ length: ROWS }, (_, row) => KINDS[row % KINDS.length]!);
  const rows = kinds.map((kind, row) => `"page ""${row + 1}""",${kind},todo,todo`);
  project.write('out/.keep', '');
  return project.shift('crash', {
    settings: {
      parallel: true,
      'current-batch-size': FIRST_SIZE,
      'max-batch-size': MAX_SIZE,
      dispatch: 'batch',
      order: sequence,
    },
    table: `name,kind,make,polish\n${rows.join('\n')}\n`,
    tasks: Object.fromEntries(TASKS.map((name) => [name, taskFile(name)])),
  });
}

/** A person's edit right after a kill, which `nightshift edit` would put in force; here without a process of its own. */
export function setDispatch(shift: ShiftHandle, dispatch: Dispatch): void {
  const line = /- dispatch: (batch|stream)/;
  shift.manager = shift.manager.replace(line, `- dispatch: ${dispatch}`);
  const record = `${shift.folder}/.engine/in-force.json`;
  if (!shift.project.exists(record)) return;
  const { atime, mtime } = statSync(shift.project.path(record));
  shift.project.write(record, shift.project.read(record).replace(line, `- dispatch: ${dispatch}`));
  utimesSync(shift.project.path(record), atime, mtime);
}

function taskFile(name: string): string {
  const check = '   ```sh\n   test -s "out/$NIGHTSHIFT_TASK-$NIGHTSHIFT_ROW"\n   ```';
  return task({
    configuration: `- agent: command\n- command: ${resolve('test/crash/agent.sh')}\n- outputs: token_${name}\n- qa-retries: 1`,
    steps: `1. ${name} {name}`,
    validation: `- The file is there\n\n${check}${name === CHECKED ? '' : '\n\n- It reads well'}`,
  });
}

/** Its qa fails it each time, so it goes back to its dev once. */
export const SENT_BACK = 'unfit';

/** How the shift ends, however often it was killed: nothing but the rows decides. */
export function finalStatus(kind: string, taskName: string): Status {
  if (kind === 'bad' || kind === 'unfit') return taskName === 'make' ? 'failed' : 'todo';
  return 'done';
}

/** As agent.sh has them: so different that none of them stands for another. */
const LESSONS = [
  'Keep the paper dry for',
  'Wipe glass with a soft cloth and then',
  'Sand old timber along its grain for',
  'The copper parts need gloves during',
  'Fold the velvet loosely while you',
  'Lift the marble with both hands to',
];

export function lessonOf(row: number, taskName: string): string | undefined {
  return (row + 1) % 3 === 0 ? `${LESSONS[(row + 1) / 3 - 1]} ${taskName}` : undefined;
}
